// A libEGL.so.1 before the real one (SHIM_REAL_EGL), for tests: it says that the first device is CUDA's
// device SHIM_CUDA, and lets functions of EGL and OpenGL fail when told to. Everything else is the real
// library's.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#define SHIM extern "C" __attribute__((visibility("default")))

namespace {

using Function = void (*)();

constexpr int kExtensions = 0x3055, kCudaDevice = 0x323A;

struct Fault {
  int64_t value = 0;
  int after = 0, times = 0;
};

std::map<std::string, Fault>& faults() {
  static auto* const kFaults = new std::map<std::string, Fault>;
  return *kFaults;
}
std::mutex mutex;

void* real(const char* name) {
  static const auto kFind = [] {
    void* const library = dlopen(std::getenv("SHIM_REAL_EGL"), RTLD_LAZY | RTLD_LOCAL);
    if (!library) std::fprintf(stderr, "egl_shim: %s\n", dlerror()), std::abort();
    return reinterpret_cast<void* (*)(const char*)>(dlsym(library, "eglGetProcAddress"));
  }();
  return kFind(name);
}

// Whether this call is to fail, and what it then returns.
bool fails(const char* name, int64_t& value) {
  const std::scoped_lock lock(mutex);
  const auto known = faults().find(name);
  if (known == faults().end()) return false;
  Fault& fault = known->second;
  if (fault.after-- > 0 || fault.times-- <= 0) return false;
  value = fault.value;
  return true;
}

// glNAME that answers as it is told, or does what it does.
#define FALLIBLE(type, name, parameters, arguments)                              \
  type name parameters {                                                         \
    static const auto kReal = reinterpret_cast<type(*) parameters>(real(#name)); \
    int64_t value = 0;                                                           \
    return fails(#name, value) ? (type)(value) : kReal arguments;                \
  }
FALLIBLE(unsigned, glGetGraphicsResetStatus, (), ())
FALLIBLE(unsigned, glGetError, (), ())
FALLIBLE(unsigned, glClientWaitSync, (void* s, unsigned f, uint64_t t), (s, f, t))
FALLIBLE(unsigned, glCheckNamedFramebufferStatus, (unsigned f, unsigned t), (f, t))
FALLIBLE(void*, glMapNamedBufferRange, (unsigned b, intptr_t o, intptr_t l, unsigned a), (b, o, l, a))
FALLIBLE(unsigned, eglMakeCurrent, (void* d, void* w, void* r, void* c), (d, w, r, c))
#undef FALLIBLE

const char* eglQueryDeviceStringEXT(void* device, int name) {
  static const auto kReal = reinterpret_cast<const char* (*)(void*, int)>(real("eglQueryDeviceStringEXT"));
  const char* const text = kReal(device, name);
  if (name != kExtensions || !text || !std::getenv("SHIM_CUDA")) return text;
  static std::map<std::string, std::string> longer;
  const std::scoped_lock lock(mutex);
  return (longer[text] = std::string(text) + " EGL_NV_device_cuda").c_str();
}

unsigned eglQueryDeviceAttribEXT(void* device, int name, intptr_t* value) {
  static const auto kReal =
      reinterpret_cast<unsigned (*)(void*, int, intptr_t*)>(real("eglQueryDeviceAttribEXT"));
  const char* const cuda = std::getenv("SHIM_CUDA");
  if (name != kCudaDevice || !cuda) return kReal(device, name, value);
  *value = std::atoi(cuda);
  return 1;
}

}  // namespace

SHIM Function eglGetProcAddress(const char* name) {
  const std::map<std::string, Function> own{
      {"eglQueryDeviceStringEXT", reinterpret_cast<Function>(&eglQueryDeviceStringEXT)},
      {"eglQueryDeviceAttribEXT", reinterpret_cast<Function>(&eglQueryDeviceAttribEXT)},
      {"glGetGraphicsResetStatus", reinterpret_cast<Function>(&glGetGraphicsResetStatus)},
      {"glGetError", reinterpret_cast<Function>(&glGetError)},
      {"glClientWaitSync", reinterpret_cast<Function>(&glClientWaitSync)},
      {"glCheckNamedFramebufferStatus", reinterpret_cast<Function>(&glCheckNamedFramebufferStatus)},
      {"glMapNamedBufferRange", reinterpret_cast<Function>(&glMapNamedBufferRange)},
      {"eglMakeCurrent", reinterpret_cast<Function>(&eglMakeCurrent)}};
  const auto known = own.find(name);
  return known != own.end() ? known->second : reinterpret_cast<Function>(real(name));
}

// The calls of a function from number `after` on, `times` of them, return `value`.
SHIM void shim_fail(const char* function, int64_t value, int after, int times) {
  const std::scoped_lock lock(mutex);
  faults()[function] = {value, after, times};
}
