#include "render/gl/egl_context.h"

#include <dlfcn.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace mvsim {
namespace {

// From EGL_EXT_device_query_name, which is newer than the generated header.
constexpr EGLint kRendererString = 0x335F;
constexpr EGLint kMaxDevices = 64;

template <typename Function>
void fetch(const EglApi& egl, Function& function, const char* name) {
  function = reinterpret_cast<Function>(egl.get_proc_address(name));
}

template <typename Function>
void require(const EglApi& egl, Function& function, const char* name) {
  fetch(egl, function, name);
  if (!function)
    throw Error(std::string("pictures need EGL 1.5, but libEGL.so.1 lacks ") + name +
                "; on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri");
}

constexpr const char* kRemedy =
    "without a GPU: apt-get install libegl1 libgl1-mesa-dri; in a container with an NVIDIA GPU: set "
    "NVIDIA_DRIVER_CAPABILITIES=all and check that /usr/share/glvnd/egl_vendor.d/10_nvidia.json exists; "
    "EGL_BAD_ALLOC "
    "there may also mean a libglvnd older than 1.3";

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

DeviceChoice wished_device(const std::string& device) {
  if (!device.empty()) return parse_device_choice(device, "render device");
  return parse_device_choice(environment("MVSIM_EGL_DEVICE").value_or(""), "MVSIM_EGL_DEVICE");
}

bool is_software_renderer(const std::string& name) {
  for (const char* known : {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SWR"})
    if (name.find(known) != std::string::npos) return true;
  return false;
}

GLADapiproc load_function(void* get_proc_address, const char* name) {
  return reinterpret_cast<GLADapiproc>(reinterpret_cast<PFNEGLGETPROCADDRESSPROC>(get_proc_address)(name));
}

}  // namespace

bool has_extension(const char* list, const char* name) {
  if (!list) return false;
  const std::string_view all(list), wanted(name);
  for (size_t at = all.find(wanted); at != std::string_view::npos; at = all.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' ')) return true;
  }
  return false;
}

EglApi load_egl() {
  setenv("LP_NUM_THREADS", "0", 0);
  void* library = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    throw Error(std::string("pictures need libEGL.so.1 (") + (reason ? reason : "cannot be loaded") +
                "); on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri");
  }
  EglApi egl;
  egl.get_proc_address = reinterpret_cast<PFNEGLGETPROCADDRESSPROC>(dlsym(library, "eglGetProcAddress"));
  if (!egl.get_proc_address) throw Error("libEGL.so.1 has no eglGetProcAddress: not an EGL library");
  require(egl, egl.query_string, "eglQueryString");
  require(egl, egl.get_error, "eglGetError");
  require(egl, egl.initialize, "eglInitialize");
  require(egl, egl.bind_api, "eglBindAPI");
  require(egl, egl.create_context, "eglCreateContext");
  require(egl, egl.destroy_context, "eglDestroyContext");
  require(egl, egl.make_current, "eglMakeCurrent");
  require(egl, egl.get_current_context, "eglGetCurrentContext");
  require(egl, egl.get_current_display, "eglGetCurrentDisplay");
  require(egl, egl.get_current_surface, "eglGetCurrentSurface");
  require(egl, egl.get_platform_display, "eglGetPlatformDisplayEXT");
  fetch(egl, egl.query_devices, "eglQueryDevicesEXT");
  fetch(egl, egl.query_device_string, "eglQueryDeviceStringEXT");
  fetch(egl, egl.query_device_attrib, "eglQueryDeviceAttribEXT");
  return egl;
}

std::string EglApi::error_name() const {
  constexpr std::pair<EGLint, const char*> kNames[] = {
      {EGL_SUCCESS, "no reason given"},         {EGL_NOT_INITIALIZED, "EGL_NOT_INITIALIZED"},
      {EGL_BAD_ACCESS, "EGL_BAD_ACCESS"},       {EGL_BAD_ALLOC, "EGL_BAD_ALLOC"},
      {EGL_BAD_ATTRIBUTE, "EGL_BAD_ATTRIBUTE"}, {EGL_BAD_CONFIG, "EGL_BAD_CONFIG"},
      {EGL_BAD_CONTEXT, "EGL_BAD_CONTEXT"},     {EGL_BAD_DISPLAY, "EGL_BAD_DISPLAY"},
      {EGL_BAD_MATCH, "EGL_BAD_MATCH"},         {EGL_BAD_PARAMETER, "EGL_BAD_PARAMETER"},
      {EGL_CONTEXT_LOST, "EGL_CONTEXT_LOST"},
  };
  const EGLint code = get_error();
  for (const auto& [known, name] : kNames)
    if (known == code) return name;
  return "EGL error " + std::to_string(code);
}

std::vector<FoundDevice> find_devices(const EglApi& egl) {
  std::vector<FoundDevice> out;
  EGLDeviceEXT handles[kMaxDevices];
  EGLint count = 0;
  if (!egl.query_devices || !egl.query_device_string || !egl.query_devices(kMaxDevices, handles, &count))
    return out;
  for (EGLint i = 0; i < count; ++i) {
    FoundDevice device{handles[i], {}};
    device.info.index = i;
    const char* extensions = egl.query_device_string(handles[i], EGL_EXTENSIONS);
    const auto text = [&](const char* extension, EGLint name) {
      const char* value =
          has_extension(extensions, extension) ? egl.query_device_string(handles[i], name) : nullptr;
      return std::string(value ? value : "");
    };
    device.info.software = has_extension(extensions, "EGL_MESA_device_software");
    device.info.drm_node = text("EGL_EXT_device_drm", EGL_DRM_DEVICE_FILE_EXT);
    EGLAttrib ordinal = -1;
    if (egl.query_device_attrib && has_extension(extensions, "EGL_NV_device_cuda") &&
        egl.query_device_attrib(handles[i], EGL_CUDA_DEVICE_NV, &ordinal))
      device.info.cuda_ordinal = static_cast<int>(ordinal);
    device.info.name = text("EGL_EXT_device_query_name", kRendererString);
    if (device.info.name.empty()) device.info.name = text("EGL_EXT_device_query_name", EGL_VENDOR);
    if (device.info.name.empty())
      device.info.name = device.info.software            ? "Mesa software"
                         : device.info.cuda_ordinal >= 0 ? "NVIDIA GPU"
                                                         : "GPU";
    out.push_back(device);
  }
  return out;
}

EglContext::EglContext(const std::string& device) : owner_(getpid()) {
  const DeviceChoice choice = wished_device(device);
  egl_ = load_egl();
  const std::vector<FoundDevice> found = find_devices(egl_);
  std::vector<EglDevice> infos;
  infos.reserve(found.size());
  for (const FoundDevice& f : found) infos.push_back(f.info);
  const bool only_software = choice.wish == DeviceWish::kSoftware;

  std::string tried;
  const auto attempt = [&](EGLDisplay display, const std::string& name) {
    const std::string failure = open(display, only_software);
    if (failure.empty()) {
      device_ = name;
      return true;
    }
    tried += (tried.empty() ? "" : "; ") + name + ": " + failure;
    return false;
  };
  bool opened = false;
  for (const size_t place : devices_to_try(choice, infos, environment("CUDA_VISIBLE_DEVICES"))) {
    const FoundDevice& f = found[place];
    opened = attempt(egl_.get_platform_display(EGL_PLATFORM_DEVICE_EXT, f.handle, nullptr),
                     "device " + describe(f.info));
    if (opened) break;
  }
  // Mesa older than its software device still draws on the surfaceless platform.
  if (!opened && (choice.wish == DeviceWish::kAuto || only_software) &&
      has_extension(egl_.query_string(EGL_NO_DISPLAY, EGL_EXTENSIONS), "EGL_MESA_platform_surfaceless"))
    opened = attempt(egl_.get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr),
                     "the surfaceless platform");
  if (!opened)
    throw Error("no EGL device can draw (" + (tried.empty() ? describe(infos) : tried) + "); " + kRemedy);
  if (software_)
    notice_ = "pictures are drawn in software by " + renderer_ +
              (tried.empty() ? std::string() : "; no GPU could be opened (" + tried + ")") +
              "; 'mvsim-gym doctor' lists the devices";
}

EglContext::~EglContext() {
  destroy();
}

void EglContext::destroy() {
  if (context_ != EGL_NO_CONTEXT && !in_forked_process()) egl_.destroy_context(display_, context_);
  context_ = EGL_NO_CONTEXT;
}

bool EglContext::in_forked_process() const {
  return getpid() != owner_;
}

std::string EglContext::open(EGLDisplay display, bool only_software) {
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY) return egl_.error_name();
  // The display is never terminated, since that would end the contexts of other libraries on the same device.
  if (!egl_.initialize(display, &major, &minor)) return egl_.error_name();
  const char* extensions = egl_.query_string(display, EGL_EXTENSIONS);
  for (const char* needed : {"EGL_KHR_surfaceless_context", "EGL_KHR_no_config_context"})
    if (!has_extension(extensions, needed)) return std::string("lacks ") + needed;
  display_ = display;
  std::string failure =
      has_extension(extensions, "EGL_EXT_create_context_robustness") ? create(true) : "not robust";
  if (!failure.empty()) failure = create(false);
  return failure.empty() ? load_gl(only_software) : failure;
}

std::string EglContext::create(bool robust) {
  std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION,       4,
                                 EGL_CONTEXT_MINOR_VERSION,       5,
                                 EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT};
  if (robust)
    attributes.insert(attributes.end(),
                      {EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
                       EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET});
  attributes.push_back(EGL_NONE);
  if (!egl_.bind_api(EGL_OPENGL_API)) return "no desktop OpenGL: " + egl_.error_name();
  context_ = egl_.create_context(display_, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
  robust_ = robust;
  return context_ == EGL_NO_CONTEXT ? "no OpenGL 4.5 context: " + egl_.error_name() : "";
}

std::string EglContext::load_gl(bool only_software) {
  std::string failure;
  try {
    const CurrentContext current(*this);
    if (!gladLoadGLContextUserPtr(&gl_, load_function, reinterpret_cast<void*>(egl_.get_proc_address)) ||
        !gl_.VERSION_4_5)
      failure = "OpenGL 4.5 functions are missing";
    else {
      renderer_ = reinterpret_cast<const char*>(gl_.GetString(GL_RENDERER));
      version_ = reinterpret_cast<const char*>(gl_.GetString(GL_VERSION));
      software_ = is_software_renderer(renderer_);
      if (only_software && !software_) failure = renderer_ + " is not a software renderer";
    }
  } catch (const Error& error) {
    failure = error.what();
  }
  if (!failure.empty()) destroy();
  return failure;
}

CurrentContext::CurrentContext(const EglContext& context) : egl_(context.egl_), display_(context.display_) {
  if (context.in_forked_process())
    throw ForkedProcessError(
        "this renderer was made before the process forked; make the environment in the child, or use spawn");
  previous_display_ = egl_.get_current_display();
  previous_context_ = egl_.get_current_context();
  previous_draw_ = egl_.get_current_surface(EGL_DRAW);
  previous_read_ = egl_.get_current_surface(EGL_READ);
  egl_.bind_api(EGL_OPENGL_API);
  if (!egl_.make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context.context_))
    throw Error("the OpenGL context cannot be used on this thread: " + egl_.error_name());
}

CurrentContext::~CurrentContext() {
  if (previous_context_ != EGL_NO_CONTEXT)
    egl_.make_current(previous_display_, previous_draw_, previous_read_, previous_context_);
  else
    egl_.make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

}  // namespace mvsim
