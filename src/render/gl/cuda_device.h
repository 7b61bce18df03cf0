// A GPU as CUDA sees it: the primary context, which PyTorch and others of this process share, a stream on
// which all that mvsim_gym writes there goes, and memory. Any thread.
//
// Who is handed an array is in order with that stream by an event (ready_for()); what he queues in turn is
// waited for before the next writing (begin_writing()). A process forked after its opening cannot use it
// (ForkedProcessError), and frees nothing of it.
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

  // Throws RenderMemoryError. Its bytes are 0.
  std::shared_ptr<CudaMemory> allocate(size_t bytes);

  // -- on our stream, in order. Throw RendererLost where CUDA fails.
  // Before the first writing into memory that others were handed.
  void begin_writing();
  void fill(cuda::Address to, size_t bytes, uint32_t word);  // a multiple of 4 bytes, unless word is 0
  void copy(cuda::Address to, cuda::Address from, size_t bytes);
  // To the host; waits until it is there.
  void fetch(void* to, cuda::Address from, size_t bytes);
  // A stream as DLPack numbers them: work queued there from now on finds what was written before. -1: the
  // caller sees to that himself.
  void ready_for(int64_t stream);

  // -- buffers of OpenGL, whose context is current
  // Why the current OpenGL context is none of this GPU, in words; empty: it is.
  std::string why_elsewhere() const;
  cuda::Resource take_buffer(unsigned gl_buffer);
  void release_buffer(cuda::Resource resource) noexcept;
  // The buffer is CUDA's for the lifetime of this: what OpenGL was told before comes first, what it is told
  // afterwards comes after the copies from here.
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
  std::mutex event_mutex_;               // records and waits go in pairs
  std::atomic<bool> has_others_{false};  // streams that are not in order with ours were handed an array
};

// The GPU of this ordinal, opened with the first call and kept until the process ends. Throws Error.
std::shared_ptr<CudaDevice> cuda_device(int ordinal);

// Bytes of a GPU's memory, freed with the last who refers to them.
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
