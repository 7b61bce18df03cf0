// The type, shape and bounds of one row of an observation, and a buffer of many rows, in the host's memory or
// on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"

namespace mvsim {

class CudaDevice;
class CudaMemory;

// One key of the observation dict. Bounds are finite, one for each element, row-major. They are float32,
// which holds every value of the integer types.
struct ObservationSpec {
  std::string key;
  DType dtype = DType::kFloat32;
  std::vector<size_t> shape;  // of one row, e.g. {36} or {height, width, channels}
  std::vector<float> low, high;

  size_t count() const { return low.size(); }                // elements of a row
  size_t bytes() const { return count() * size_of(dtype); }  // of a row
};

// The memory of observed camera images: the host's, or that of a GPU with a CUDA ordinal.
struct Device {
  int cuda_ordinal = -1;  // -1: the host

  bool is_host() const { return cuda_ordinal < 0; }
  friend bool operator==(const Device&, const Device&) = default;
};

// Parses "cpu" or "cuda:<n>". Throws Error for anything else.
Device device_of(std::string_view name);
std::string name_of(Device device);

// `rows` rows of one observation, initially zero. Rows keep their address. A copy has memory of its own.
class ObservationBuffer {
 public:
  // `device`: null for the host's memory.
  ObservationBuffer(const ObservationSpec& spec, size_t rows, CudaDevice* device = nullptr);
  ObservationBuffer(const ObservationBuffer& other);
  ObservationBuffer& operator=(const ObservationBuffer& other);
  ObservationBuffer(ObservationBuffer&&) = default;
  ObservationBuffer& operator=(ObservationBuffer&&) = default;
  ~ObservationBuffer() = default;

  bool is_on_host() const { return !on_device_; }
  const std::shared_ptr<CudaMemory>& on_device() const { return on_device_; }
  DType dtype() const { return dtype_; }
  size_t row_bytes() const { return row_bytes_; }
  size_t rows() const { return rows_; }
  // Addresses in the memory of the host or of the GPU.
  std::byte* data();
  std::byte* row(size_t index) { return data() + index * row_bytes_; }
  const std::byte* row(size_t index) const {
    return const_cast<ObservationBuffer*>(this)->row(index);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  void clear_row(size_t index);
  // Copies a row from a buffer of the same spec and device.
  void copy_row(size_t index, const ObservationBuffer& from, size_t from_index);
  // All elements, in the host's memory. Throws Error if T is not the type of the buffer, or if it is on a
  // GPU.
  template <typename T>
  std::span<T> values() {
    check_dtype(kDTypeOf<T>);
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  void check_dtype(DType asked) const;

  DType dtype_;
  size_t row_bytes_, rows_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<CudaMemory> on_device_;
};

}  // namespace mvsim
