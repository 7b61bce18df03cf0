// DLPack's structures, version 1.0, as its specification lays them out in memory: how libraries hand each
// other arrays without a copy.
#pragma once

#include <cstdint>

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
