// A GPU of CUDA: its primary context, which PyTorch and other libraries of this process share, the stream for
// all writes of mvsim_gym, and memory. Any thread.
//
// An event orders the reads of a consumer after the writes (ready_for()). begin_writing() waits for work that
// consumers have queued. A process that was forked after the GPU was opened cannot use it
// (ForkedProcessError), and frees nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

#include "render/gl/cuda_api.h"

namespace mvsim {

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

}  // namespace mvsim
