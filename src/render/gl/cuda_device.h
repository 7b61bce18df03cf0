// CUDA: its functions, loaded at run time, its devices, and images in their memory.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace mvsim {

// Loads libcuda at run time: a table of the functions of CUDA's driver API that arrays on a GPU need. It is
// not linked, and a build needs no part of CUDA. The library is never unloaded.

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

// A GPU of CUDA: its primary context, which PyTorch and other libraries of this process share, the stream for
// all writes of mvsim_gym, and memory. Any thread.
//
// An event orders the reads of a consumer after the writes (ready_for()). begin_writing() waits for work that
// consumers have queued. A process that was forked after the GPU was opened cannot use it
// (ForkedProcessError), and frees nothing.

class CudaMemory;

class CudaDevice : public std::enable_shared_from_this<CudaDevice> {
 public:
  explicit CudaDevice(int ordinal);  // throws Error in one line
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  std::string text() const { return "cuda:" + std::to_string(ordinal_); }

  // Throws RenderMemoryError. The memory is zero.
  std::shared_ptr<CudaMemory> allocate(size_t bytes);

  // -- on the stream of mvsim_gym, in order. Throw RendererLost if CUDA fails.
  // Call it before the first write into memory that has been handed out.
  void begin_writing();
  void fill(cuda::Address to, size_t bytes, uint32_t word);  // a multiple of 4 bytes, unless word is 0
  void copy(cuda::Address to, cuda::Address from, size_t bytes);
  // Copies to the host and waits.
  void fetch(void* to, cuda::Address from, size_t bytes);
  // Orders future work on a stream, numbered as in DLPack, after the writes so far. -1: the caller
  // synchronizes.
  void ready_for(int64_t stream);

  // -- buffers of OpenGL, whose context is current
  // Returns why the current OpenGL context is not on this GPU, in words; empty: it is.
  std::string why_elsewhere() const;
  cuda::Resource take_buffer(unsigned gl_buffer);
  void release_buffer(cuda::Resource resource) noexcept;
  // Gives the buffer to CUDA for the lifetime of this object. Earlier OpenGL commands finish before the
  // copies, and later ones run after them.
  class Mapped {
   public:
    Mapped(CudaDevice& device, cuda::Resource resource);
    ~Mapped();
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    cuda::Address address() const { return address_; }
    void unmap();  // throws, which the destructor does not

   private:
    CudaDevice& device_;
    cuda::Resource resource_;
    cuda::Address address_ = 0;
    bool is_mapped_ = false;
  };

 private:
  friend class CudaMemory;
  class Current;
  void check(cuda::Result result, const char* function) const;
  bool in_forked_process() const;

  CudaApi api_;
  int ordinal_;
  pid_t owner_;
  std::string name_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Event event_ = nullptr;
  std::mutex event_mutex_;               // protects pairs of record and wait
  std::atomic<bool> has_others_{false};  // arrays were handed to streams that are not in order with stream_
};

// Returns the GPU with this ordinal. It is opened by the first call and kept until the process ends. Throws
// Error.
std::shared_ptr<CudaDevice> cuda_device(int ordinal);

// Bytes of a GPU's memory, freed by the last owner.
class CudaMemory {
 public:
  CudaMemory(std::shared_ptr<CudaDevice> device, size_t bytes);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  CudaDevice& device() const { return *device_; }
  cuda::Address address() const { return address_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<CudaDevice> device_;
  cuda::Address address_ = 0;
  size_t bytes_;
};

// Parameters of a shader that converts the image of a sensor to an observation in a GPU's memory. On the CPU
// the same work is done by ViewSensor::finish and by the bounds of the observation. Values only.

class CudaDevice;

// Parameters of one observation, common to all of its rows.
struct DeviceImage {
  CudaDevice* device = nullptr;
  // For depth. First 0 (no return) is replaced, then values are clipped, then they are mapped to [0, 1], or
  // to [-1, 1] if `low` is negative.
  bool replaces_zero = false, clips = false, normalizes = false;
  float in_place_of_zero = 0, low = 0, high = 0;  // m

  float finished(float value) const;  // without noise
};

// Parameters of one picture: noise of distances as in disturb_distances().
struct DeviceNoise {
  bool has_range = false;  // values below `low` or above `high` count as no return, with and without noise
  bool keeps_far = false;
  float low = 0, high = 0;  // m
  double sigma = 0;         // m
  uint64_t key = 0;
  uint32_t stream = 0;
};

}  // namespace mvsim
