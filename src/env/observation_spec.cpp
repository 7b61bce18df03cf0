#include "env/observation_spec.h"

#include "base/error.h"

namespace mvsim {

size_t size_of(DType dtype) {
  return with_dtype(dtype, [](auto zero) { return sizeof zero; });
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return "uint8";
    case DType::kUint16:
      return "uint16";
    case DType::kFloat32:
      break;
  }
  return "float32";
}

size_t max_value_of(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return UINT8_MAX;
    case DType::kUint16:
      return UINT16_MAX;
    case DType::kFloat32:
      break;
  }
  return 0;
}

Device device_of(std::string_view name) {
  if (name != "cpu") throw Error("device: found '" + std::string(name) + "', expected 'cpu'");
  return Device::kCpu;
}

std::string_view name_of(Device) {
  return "cpu";
}

ObservationBuffer::ObservationBuffer(const ObservationSpec& spec, size_t rows, Device device)
    : device_(device), dtype_(spec.dtype), row_bytes_(spec.bytes()), bytes_(rows * spec.bytes()) {}

void ObservationBuffer::check_dtype(DType asked) const {
  if (asked != dtype_)
    throw Error("observation: asked for " + std::string(name_of(asked)) + ", it is of " +
                std::string(name_of(dtype_)));
}

}  // namespace mvsim
