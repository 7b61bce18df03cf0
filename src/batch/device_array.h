// An array in a GPU's memory as others are handed it: rows of an observation, or a copy of them. As the array
// API standard has it, it leaves by DLPack. Values; any thread.
//
// Rows show a moment: once the batch has gone on they are out of date, and every use is an Error. Memory that
// was exported stays valid memory for as long as its consumer keeps it.
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

// An array cannot be handed over as its consumer wishes.
class ExportRefused : public Error {
 public:
  using Error::Error;
};

// The arguments of __dlpack__.
struct DlpackWish {
  std::optional<int64_t> stream;                             // none: CUDA's legacy default stream
  std::optional<std::pair<uint32_t, uint32_t>> max_version;  // none: before versions
  std::optional<std::pair<int32_t, int32_t>> device;         // none: where it lies
  std::optional<bool> copy;                                  // none: if need be
};

// One of both; its consumer calls its deleter once.
struct DlpackExport {
  dlpack::Managed* plain = nullptr;
  dlpack::ManagedVersioned* versioned = nullptr;
};

class DeviceArray {
 public:
  using Moment = std::shared_ptr<const std::atomic<uint64_t>>;

  // `moment` counts on when the memory is written again; null: never.
  DeviceArray(std::shared_ptr<CudaMemory> memory, DType dtype, std::vector<size_t> shape, Moment moment);

  DType dtype() const { return dtype_; }
  const std::vector<size_t>& shape() const { return shape_; }
  size_t bytes() const;
  CudaDevice& device() const { return memory_->device(); }
  bool is_current() const { return !moment_ || moment_->load() == made_at_; }

  // Each throws Error where the array is out of date.
  DeviceArray row(size_t index) const;  // along the first dimension; of the same memory
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
