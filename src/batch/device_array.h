// An array in the memory of a GPU: rows of an observation, or a copy of them. It is exported by DLPack, as in
// the array API standard. A value; any thread.
//
// Rows hold the values of one step. When the batch rewrites them, the array is out of date and every use is
// an Error. Exported memory stays valid as long as its consumer keeps it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dlpack.h"
#include "base/dtype.h"
#include "base/error.h"
#include "render/gl/cuda_device.h"

namespace mvsim {

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

}  // namespace mvsim
