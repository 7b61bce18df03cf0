#include "base/array.h"

namespace mvsim {

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return "uint8";
    case DType::kUint16:
      return "uint16";
    case DType::kFloat64:
      return "float64";
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
    case DType::kFloat64:
      break;
  }
  return 0;
}

}  // namespace mvsim
