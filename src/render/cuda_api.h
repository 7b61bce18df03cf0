// libcuda loaded at run time: a table of the functions of CUDA's driver API that arrays on a GPU need.
// Nothing links it, and nothing of CUDA is needed to build. Never unloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mvsim {

// As in cuda.h, whose handles are pointers.
namespace cuda {
using Result = int;  // 0: success
using Device = int;  // of this process, CUDA_VISIBLE_DEVICES applied
using Address = unsigned long long;
using Context = struct ContextHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Resource = struct ResourceHandle*;

inline constexpr Result kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101;
inline constexpr unsigned kBlockingStream = 0;  // CU_STREAM_DEFAULT: in order with the legacy default stream
inline constexpr unsigned kEventWithoutTime = 2;  // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kReadOnly = 1;          // CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY
inline constexpr unsigned kAllDevices = 1;        // CU_GL_DEVICE_LIST_ALL
}  // namespace cuda

// Members have the names of libcuda's functions: the versions that cuda.h of CUDA 11 and later names.
struct CudaApi {
  cuda::Result (*cuInit)(unsigned flags) = nullptr;
  cuda::Result (*cuGetErrorName)(cuda::Result, const char** name) = nullptr;
  cuda::Result (*cuDeviceGetCount)(int* count) = nullptr;
  cuda::Result (*cuDeviceGet)(cuda::Device*, int ordinal) = nullptr;
  cuda::Result (*cuDeviceGetName)(char* name, int size, cuda::Device) = nullptr;
  cuda::Result (*cuDevicePrimaryCtxRetain)(cuda::Context*, cuda::Device) = nullptr;
  cuda::Result (*cuCtxPushCurrent_v2)(cuda::Context) = nullptr;
  cuda::Result (*cuCtxPopCurrent_v2)(cuda::Context*) = nullptr;
  cuda::Result (*cuCtxSynchronize)() = nullptr;
  cuda::Result (*cuStreamCreate)(cuda::Stream*, unsigned flags) = nullptr;
  cuda::Result (*cuStreamSynchronize)(cuda::Stream) = nullptr;
  cuda::Result (*cuStreamWaitEvent)(cuda::Stream, cuda::Event, unsigned flags) = nullptr;
  cuda::Result (*cuEventCreate)(cuda::Event*, unsigned flags) = nullptr;
  cuda::Result (*cuEventRecord)(cuda::Event, cuda::Stream) = nullptr;
  cuda::Result (*cuMemAlloc_v2)(cuda::Address*, size_t bytes) = nullptr;
  cuda::Result (*cuMemFree_v2)(cuda::Address) = nullptr;
  cuda::Result (*cuMemcpyDtoDAsync_v2)(cuda::Address to, cuda::Address from, size_t, cuda::Stream) = nullptr;
  cuda::Result (*cuMemcpyDtoH_v2)(void* to, cuda::Address from, size_t) = nullptr;
  cuda::Result (*cuMemsetD32Async)(cuda::Address, unsigned value, size_t count, cuda::Stream) = nullptr;
  cuda::Result (*cuMemsetD8Async)(cuda::Address, unsigned char value, size_t, cuda::Stream) = nullptr;
  cuda::Result (*cuGLGetDevices_v2)(unsigned* count, cuda::Device*, unsigned room, unsigned list) = nullptr;
  cuda::Result (*cuGraphicsGLRegisterBuffer)(cuda::Resource*, unsigned buffer, unsigned flags) = nullptr;
  cuda::Result (*cuGraphicsUnregisterResource)(cuda::Resource) = nullptr;
  cuda::Result (*cuGraphicsMapResources)(unsigned count, cuda::Resource*, cuda::Stream) = nullptr;
  cuda::Result (*cuGraphicsUnmapResources)(unsigned count, cuda::Resource*, cuda::Stream) = nullptr;
  cuda::Result (*cuGraphicsResourceGetMappedPointer_v2)(cuda::Address*, size_t*, cuda::Resource) = nullptr;

  std::string name_of(cuda::Result result) const;  // "CUDA_ERROR_NO_DEVICE"
};

// Throws Error, one line with the remedy, where libcuda.so.1 cannot be loaded or lacks a function, or where
// CUDA does not start.
CudaApi load_cuda();

}  // namespace mvsim
