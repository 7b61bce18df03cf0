// Observations in the memory of a GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/array.h"
#include "base/error.h"
#include "batch/batch_options.h"
#include "render/gl/cuda_device.h"
#include "task/task.h"

namespace mvsim {

// An array in the memory of a GPU: rows of an observation, or a copy of them. It is exported by DLPack, as in
// the array API standard. A value; any thread.
//
// Rows hold the values of one step. When the batch rewrites them, the array is out of date and every use is
// an Error. Exported memory stays valid as long as its consumer keeps it.

// Thrown if an array cannot be exported as its consumer asks.
class ExportRefused : public Error {
 public:
  using Error::Error;
};

// The arguments of __dlpack__.
struct DlpackWish {
  std::optional<int64_t> stream;                             // none: CUDA's legacy default stream
  std::optional<std::pair<uint32_t, uint32_t>> max_version;  // none: DLPack before versions
  std::optional<std::pair<int32_t, int32_t>> device;         // none: that of the array
  std::optional<bool> copy;                                  // none: copies only if necessary
};

// One of the two pointers is set; its consumer calls the deleter once.
struct DlpackExport {
  dlpack::Managed* plain = nullptr;
  dlpack::ManagedVersioned* versioned = nullptr;
};

class DeviceArray {
 public:
  using Moment = std::shared_ptr<const std::atomic<uint64_t>>;

  // `moment` is increased when the memory is written again; null: the memory never is.
  DeviceArray(std::shared_ptr<CudaMemory> memory, DType dtype, std::vector<size_t> shape, Moment moment);

  DType dtype() const { return dtype_; }
  const std::vector<size_t>& shape() const { return shape_; }
  size_t bytes() const;
  CudaDevice& device() const { return memory_->device(); }
  bool is_current() const { return !moment_ || moment_->load() == made_at_; }

  // These throw Error if the array is out of date.
  DeviceArray row(size_t index) const;  // along the first dimension; shares the memory
  DeviceArray copy() const;             // in memory of its own, never out of date
  void fetch(void* to) const;           // to the host
  DlpackExport to_dlpack(const DlpackWish& wish) const;

 private:
  void require_current() const;

  std::shared_ptr<CudaMemory> memory_;
  cuda::Address address_;
  DType dtype_;
  std::vector<size_t> shape_;
  Moment moment_;
  uint64_t made_at_ = 0;
};

// Selects the observations of a task that are made on a GPU: the images of cameras, if the options ask for
// it. The CPU computes all others, which stay in its memory.

struct DeviceObservations {
  std::shared_ptr<CudaDevice> device;              // null: all are in the host's memory
  std::vector<std::optional<DeviceImage>> images;  // by key
  bool leaves_pictures = false;                    // some pictures are in the host's memory

  // Null for observations in the host's memory.
  const DeviceImage* image(size_t key) const { return images[key] ? &*images[key] : nullptr; }
};

// Opens the GPU. Throws Error, one line, if there is no such GPU, or if the task has no image of a camera or
// one that cannot be made on it.
DeviceObservations device_observations(const Task& task, Device device);

// Returns options whose worlds are drawn on the device. Throws Error if the options ask for another backend.
BatchOptions with_backend(BatchOptions options);

}  // namespace mvsim
