// Arrays that leave the core: element types, the structs of DLPack, images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mvsim {

// Types of the elements of arrays that leave the core: readings and observations.

enum class DType : uint8_t { kFloat32, kUint8, kUint16, kFloat64 };

template <typename T>
inline constexpr DType kDTypeOf = DType{};
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUint8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUint16;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;

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

inline std::string_view name_of(DType dtype) {  // as in NumPy
  constexpr std::string_view kNames[] = {"float32", "uint8", "uint16", "float64"};
  return kNames[static_cast<size_t>(dtype)];
}

// The largest value of an integer type; 0 for the others.
inline size_t max_value_of(DType dtype) {
  return dtype == DType::kUint8 ? UINT8_MAX : dtype == DType::kUint16 ? UINT16_MAX : 0;
}

}  // namespace mvsim

// DLPack's structures, version 1.0, as its specification lays them out in memory: how libraries hand each
// other arrays without a copy.

namespace mvsim::dlpack {

inline constexpr int32_t kCpu = 1, kCuda = 2;                // DLDeviceType
inline constexpr uint8_t kUnsigned = 1, kFloatingPoint = 2;  // DLDataTypeCode
inline constexpr uint64_t kIsCopied = 2;                     // DLPACK_FLAG_BITMASK_IS_COPIED

struct Device {
  int32_t type, id;
};

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape, *strides;  // strides count elements
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* owner;
  void (*deleter)(Managed*);
};

struct Version {
  uint32_t major, minor;
};

struct ManagedVersioned {
  Version version;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace mvsim::dlpack
namespace mvsim {

// An image of 8 bits a channel.

struct Image {
  int width = 0, height = 0, channels = 1;  // row 0 is the top
  std::vector<uint8_t> data;                // height * width * channels

  uint8_t at(int row, int column, int channel = 0) const {
    return data[(static_cast<size_t>(row) * width + column) * channels + channel];
  }
};

}  // namespace mvsim
