#include "env/observation_spec.h"

#include "base/error.h"

namespace mvsim {

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
