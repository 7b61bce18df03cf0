#include "render/cuda_api.h"

#include <dlfcn.h>

#include "base/error.h"

namespace mvsim {
namespace {

constexpr const char* kRemedy =
    "it is part of NVIDIA's driver: install that, in a container start it with its GPUs "
    "(NVIDIA_DRIVER_CAPABILITIES=all), or leave out device= to have NumPy arrays";

template <typename Function>
void require(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw Error(std::string("libcuda.so.1 lacks ") + name + ", expected CUDA 11 or later: " + kRemedy);
}

}  // namespace

CudaApi load_cuda() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* const reason = dlerror();
    throw Error(std::string("arrays on a GPU need libcuda.so.1 (") + (reason ? reason : "cannot be loaded") +
                "): " + kRemedy);
  }
  CudaApi api;
#define MVSIM_REQUIRE(name) require(library, api.name, #name)
  MVSIM_REQUIRE(cuInit);
  MVSIM_REQUIRE(cuGetErrorName);
  MVSIM_REQUIRE(cuDeviceGetCount);
  MVSIM_REQUIRE(cuDeviceGet);
  MVSIM_REQUIRE(cuDeviceGetName);
  MVSIM_REQUIRE(cuDevicePrimaryCtxRetain);
  MVSIM_REQUIRE(cuCtxPushCurrent_v2);
  MVSIM_REQUIRE(cuCtxPopCurrent_v2);
  MVSIM_REQUIRE(cuCtxSynchronize);
  MVSIM_REQUIRE(cuStreamCreate);
  MVSIM_REQUIRE(cuStreamSynchronize);
  MVSIM_REQUIRE(cuStreamWaitEvent);
  MVSIM_REQUIRE(cuEventCreate);
  MVSIM_REQUIRE(cuEventRecord);
  MVSIM_REQUIRE(cuMemAlloc_v2);
  MVSIM_REQUIRE(cuMemFree_v2);
  MVSIM_REQUIRE(cuMemcpyDtoDAsync_v2);
  MVSIM_REQUIRE(cuMemcpyDtoH_v2);
  MVSIM_REQUIRE(cuMemsetD32Async);
  MVSIM_REQUIRE(cuMemsetD8Async);
  MVSIM_REQUIRE(cuGLGetDevices_v2);
  MVSIM_REQUIRE(cuGraphicsGLRegisterBuffer);
  MVSIM_REQUIRE(cuGraphicsUnregisterResource);
  MVSIM_REQUIRE(cuGraphicsMapResources);
  MVSIM_REQUIRE(cuGraphicsUnmapResources);
  MVSIM_REQUIRE(cuGraphicsResourceGetMappedPointer_v2);
#undef MVSIM_REQUIRE
  if (const cuda::Result result = api.cuInit(0); result != 0)
    throw Error("CUDA does not start: cuInit says " + api.name_of(result) +
                "; see that nvidia-smi lists a GPU, or leave out "
                "device= to have NumPy arrays");
  return api;
}

std::string CudaApi::name_of(cuda::Result result) const {
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) != 0 || !name) return "error " + std::to_string(result);
  return name;
}

}  // namespace mvsim
