// What an observation is as an array, and the memory that it lies in: type, shape and bounds of one row, and
// a buffer of many rows that says on which device it lies. Values only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace mvsim {

// One key of the observation dict. Bounds are finite, one for each element, row-major; float32 holds every
// value of the integer types.
struct ObservationSpec {
  std::string key;
  DType dtype = DType::kFloat32;
  std::vector<size_t> shape;  // of one row, e.g. {36} or {height, width, channels}
  std::vector<float> low, high;

  size_t count() const { return low.size(); }                // elements of a row
  size_t bytes() const { return count() * size_of(dtype); }  // of a row
};

// Where a buffer lies.
enum class Device : uint8_t { kCpu };

// Of a name such as "cpu". Throws Error for every device that there is none of.
Device device_of(std::string_view name);
std::string_view name_of(Device device);

// `rows` rows of one observation, zero at first. Rows keep their address.
class ObservationBuffer {
 public:
  ObservationBuffer(const ObservationSpec& spec, size_t rows, Device device);

  Device device() const { return device_; }
  DType dtype() const { return dtype_; }
  size_t row_bytes() const { return row_bytes_; }
  size_t rows() const { return row_bytes_ > 0 ? bytes_.size() / row_bytes_ : 0; }
  std::byte* data() { return bytes_.data(); }
  std::byte* row(size_t index) { return bytes_.data() + index * row_bytes_; }
  const std::byte* row(size_t index) const { return bytes_.data() + index * row_bytes_; }
  // All elements. Throws Error if T is not the type of the buffer.
  template <typename T>
  std::span<T> values() {
    check_dtype(DTypeOf<T>::kValue);
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  void check_dtype(DType asked) const;

  Device device_;
  DType dtype_;
  size_t row_bytes_;
  std::vector<std::byte> bytes_;
};

}  // namespace mvsim
