#include "render/gl/egl_api.h"

#include <dlfcn.h>

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
  const EGLint code = get_error();
  switch (code) {
    case EGL_SUCCESS:
      return "no reason given";
    case EGL_NOT_INITIALIZED:
      return "EGL_NOT_INITIALIZED";
    case EGL_BAD_ACCESS:
      return "EGL_BAD_ACCESS";
    case EGL_BAD_ALLOC:
      return "EGL_BAD_ALLOC";
    case EGL_BAD_ATTRIBUTE:
      return "EGL_BAD_ATTRIBUTE";
    case EGL_BAD_CONFIG:
      return "EGL_BAD_CONFIG";
    case EGL_BAD_CONTEXT:
      return "EGL_BAD_CONTEXT";
    case EGL_BAD_DISPLAY:
      return "EGL_BAD_DISPLAY";
    case EGL_BAD_MATCH:
      return "EGL_BAD_MATCH";
    case EGL_BAD_PARAMETER:
      return "EGL_BAD_PARAMETER";
    case EGL_CONTEXT_LOST:
      return "EGL_CONTEXT_LOST";
    default:
      return "EGL error " + std::to_string(code);
  }
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

}  // namespace mvsim
