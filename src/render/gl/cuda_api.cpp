#include "render/gl/cuda_api.h"

#include <dlfcn.h>

#include "base/error.h"

namespace mvsim {
namespace {

// Without the option load_cuda() throws. Every use of CUDA begins with it, so the rest needs no check.
#ifdef MVSIM_CUDA
constexpr bool kIsBuiltIn = true;
#else
constexpr bool kIsBuiltIn = false;
#endif

constexpr const char* kCudaRemedy =
    "it is part of NVIDIA's driver: install that, in a container start it with its GPUs "
    "(NVIDIA_DRIVER_CAPABILITIES=all), or leave out device= to have NumPy arrays";

template <typename Function>
void require(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw Error(std::string("libcuda.so.1 lacks ") + name + ", expected CUDA 11 or later: " + kCudaRemedy);
}

}  // namespace

CudaApi load_cuda() {
  if (!kIsBuiltIn)
    throw Error(
        "this build has no arrays on a GPU, which are experimental: build from source with "
        "MVSIM_CUDA=ON pip install ., or leave out device= to have NumPy arrays");
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* const reason = dlerror();
    throw Error(std::string("arrays on a GPU need libcuda.so.1 (") + (reason ? reason : "cannot be loaded") +
                "): " + kCudaRemedy);
  }
  CudaApi api;
  require(library, api.init, "cuInit");
  require(library, api.get_error_name, "cuGetErrorName");
  require(library, api.device_get_count, "cuDeviceGetCount");
  require(library, api.device_get, "cuDeviceGet");
  require(library, api.device_get_name, "cuDeviceGetName");
  require(library, api.primary_context_retain, "cuDevicePrimaryCtxRetain");
  require(library, api.context_push, "cuCtxPushCurrent_v2");
  require(library, api.context_pop, "cuCtxPopCurrent_v2");
  require(library, api.context_synchronize, "cuCtxSynchronize");
  require(library, api.stream_create, "cuStreamCreate");
  require(library, api.stream_synchronize, "cuStreamSynchronize");
  require(library, api.stream_wait_event, "cuStreamWaitEvent");
  require(library, api.event_create, "cuEventCreate");
  require(library, api.event_record, "cuEventRecord");
  require(library, api.memory_alloc, "cuMemAlloc_v2");
  require(library, api.memory_free, "cuMemFree_v2");
  require(library, api.copy_on_device, "cuMemcpyDtoDAsync_v2");
  require(library, api.copy_to_host, "cuMemcpyDtoH_v2");
  require(library, api.set_words, "cuMemsetD32Async");
  require(library, api.set_bytes, "cuMemsetD8Async");
  require(library, api.gl_get_devices, "cuGLGetDevices_v2");
  require(library, api.gl_register_buffer, "cuGraphicsGLRegisterBuffer");
  require(library, api.unregister_resource, "cuGraphicsUnregisterResource");
  require(library, api.map_resources, "cuGraphicsMapResources");
  require(library, api.unmap_resources, "cuGraphicsUnmapResources");
  require(library, api.mapped_pointer, "cuGraphicsResourceGetMappedPointer_v2");
  if (const cuda::Result result = api.init(0); result != 0)
    throw Error("CUDA does not start: cuInit says " + api.name_of(result) +
                "; check that nvidia-smi lists a GPU, or leave out "
                "device= to have NumPy arrays");
  return api;
}

std::string CudaApi::name_of(cuda::Result result) const {
  const char* name = nullptr;
  if (get_error_name(result, &name) != 0 || !name) return "error " + std::to_string(result);
  return name;
}

}  // namespace mvsim
