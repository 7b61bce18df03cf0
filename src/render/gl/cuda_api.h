// Loads libcuda at run time: a table of the functions of CUDA's driver API that arrays on a GPU need. It is
// not linked, and a build needs no part of CUDA. The library is never unloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mvsim {

// Types as in cuda.h, whose handles are pointers.
namespace cuda {
using Result = int;  // 0: success
using Device = int;  // ordinal in this process, after CUDA_VISIBLE_DEVICES
using Address = unsigned long long;
using Context = struct ContextHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Resource = struct ResourceHandle*;

// Converts a number to a pointer: an address for other libraries, or a stream number of DLPack.
inline void* pointer_of(uint64_t number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): CUDA has numbers
}

inline constexpr Result kOutOfMemory = 2;
inline constexpr unsigned kBlockingStream = 0;  // CU_STREAM_DEFAULT: in order with the legacy default stream
inline constexpr unsigned kEventWithoutTime = 2;  // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kReadOnly = 1;          // CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY
inline constexpr unsigned kAllDevices = 1;        // CU_GL_DEVICE_LIST_ALL
}  // namespace cuda

// Functions in the versions that cuda.h of CUDA 11 and later names.
struct CudaApi {
  cuda::Result (*init)(unsigned flags) = nullptr;
  cuda::Result (*get_error_name)(cuda::Result, const char** name) = nullptr;
  cuda::Result (*device_get_count)(int* count) = nullptr;
  cuda::Result (*device_get)(cuda::Device*, int ordinal) = nullptr;
  cuda::Result (*device_get_name)(char* name, int size, cuda::Device) = nullptr;
  cuda::Result (*primary_context_retain)(cuda::Context*, cuda::Device) = nullptr;
  cuda::Result (*context_push)(cuda::Context) = nullptr;
  cuda::Result (*context_pop)(cuda::Context*) = nullptr;
  cuda::Result (*context_synchronize)() = nullptr;
  cuda::Result (*stream_create)(cuda::Stream*, unsigned flags) = nullptr;
  cuda::Result (*stream_synchronize)(cuda::Stream) = nullptr;
  cuda::Result (*stream_wait_event)(cuda::Stream, cuda::Event, unsigned flags) = nullptr;
  cuda::Result (*event_create)(cuda::Event*, unsigned flags) = nullptr;
  cuda::Result (*event_record)(cuda::Event, cuda::Stream) = nullptr;
  cuda::Result (*memory_alloc)(cuda::Address*, size_t bytes) = nullptr;
  cuda::Result (*memory_free)(cuda::Address) = nullptr;
  cuda::Result (*copy_on_device)(cuda::Address to, cuda::Address from, size_t, cuda::Stream) = nullptr;
  cuda::Result (*copy_to_host)(void* to, cuda::Address from, size_t) = nullptr;
  cuda::Result (*set_words)(cuda::Address, unsigned value, size_t count, cuda::Stream) = nullptr;
  cuda::Result (*set_bytes)(cuda::Address, unsigned char value, size_t, cuda::Stream) = nullptr;
  cuda::Result (*gl_get_devices)(unsigned* count, cuda::Device*, unsigned room, unsigned list) = nullptr;
  cuda::Result (*gl_register_buffer)(cuda::Resource*, unsigned buffer, unsigned flags) = nullptr;
  cuda::Result (*unregister_resource)(cuda::Resource) = nullptr;
  cuda::Result (*map_resources)(unsigned count, cuda::Resource*, cuda::Stream) = nullptr;
  cuda::Result (*unmap_resources)(unsigned count, cuda::Resource*, cuda::Stream) = nullptr;
  cuda::Result (*mapped_pointer)(cuda::Address*, size_t*, cuda::Resource) = nullptr;

  std::string name_of(cuda::Result result) const;  // "CUDA_ERROR_NO_DEVICE"
};

// Throws Error, one line with the remedy, if the build is without MVSIM_CUDA (CMakeLists.txt), if
// libcuda.so.1 cannot be loaded or lacks a function, or if CUDA does not start.
CudaApi load_cuda();

}  // namespace mvsim
