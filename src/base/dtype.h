// Types of the elements of arrays that leave the core: readings and observations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mvsim {

enum class DType : uint8_t { kFloat32, kUint8, kUint16, kFloat64 };

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType kValue = DType::kFloat32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType kValue = DType::kUint8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType kValue = DType::kUint16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType kValue = DType::kFloat64;
};

// Calls work(T()) with a value of the type that `dtype` names.
template <typename Work>
decltype(auto) with_dtype(DType dtype, Work&& work) {
  switch (dtype) {
    case DType::kUint8:
      return work(uint8_t{});
    case DType::kUint16:
      return work(uint16_t{});
    case DType::kFloat64:
      return work(double{});
    case DType::kFloat32:
      break;
  }
  return work(float{});
}

inline size_t size_of(DType dtype) {  // bytes
  return with_dtype(dtype, [](auto zero) { return sizeof zero; });
}

std::string_view name_of(DType dtype);  // as in NumPy: "float32"
size_t max_value_of(DType dtype);       // of an integer type; 0: not an integer

}  // namespace mvsim
