#include "task/observation_spec.h"

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "render/gl/cuda_device.h"

namespace mvsim {
namespace {

constexpr std::string_view kCuda = "cuda:";

cuda::Address address_of(const std::byte* place) {
  return reinterpret_cast<uintptr_t>(place);
}

}  // namespace

Device device_of(std::string_view name) {
  if (name == "cpu") return {};
  Device device;
  if (name.substr(0, kCuda.size()) == kCuda) {
    const std::string_view number = name.substr(kCuda.size());
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), device.cuda_ordinal);
    if (error == std::errc() && end == number.data() + number.size() && !device.is_host()) return device;
  }
  throw Error("device: found '" + shortened(name) + "', expected 'cpu' or 'cuda:<n>'" +
              did_you_mean(name, {"cpu", "cuda:0"}));
}

std::string name_of(Device device) {
  return device.is_host() ? "cpu" : std::string(kCuda) + std::to_string(device.cuda_ordinal);
}

ObservationBuffer::ObservationBuffer(const ObservationSpec& spec, size_t rows, CudaDevice* device)
    : dtype_(spec.dtype), row_bytes_(spec.bytes()), rows_(rows) {
  if (device)
    on_device_ = device->allocate(rows * row_bytes_);
  else
    bytes_.resize(rows * row_bytes_);
}

ObservationBuffer::ObservationBuffer(const ObservationBuffer& other)
    : dtype_(other.dtype_), row_bytes_(other.row_bytes_), rows_(other.rows_), bytes_(other.bytes_) {
  if (!other.on_device_) return;
  CudaDevice& device = other.on_device_->device();
  on_device_ = device.allocate(other.on_device_->bytes());
  device.copy(on_device_->address(), other.on_device_->address(), on_device_->bytes());
}

ObservationBuffer& ObservationBuffer::operator=(const ObservationBuffer& other) {
  if (this != &other) *this = ObservationBuffer(other);
  return *this;
}

std::byte* ObservationBuffer::data() {
  return on_device_ ? static_cast<std::byte*>(cuda::pointer_of(on_device_->address())) : bytes_.data();
}

void ObservationBuffer::clear_row(size_t index) {
  if (on_device_)
    on_device_->device().fill(address_of(row(index)), row_bytes_, 0);
  else
    std::memset(row(index), 0, row_bytes_);
}

void ObservationBuffer::copy_row(size_t index, const ObservationBuffer& from, size_t from_index) {
  if (on_device_)
    on_device_->device().copy(address_of(row(index)), address_of(from.row(from_index)), row_bytes_);
  else
    std::memcpy(row(index), from.row(from_index), row_bytes_);
}

void ObservationBuffer::check_dtype(DType asked) const {
  if (asked != dtype_)
    throw Error("observation: asked for " + std::string(name_of(asked)) + ", it is of " +
                std::string(name_of(dtype_)));
  if (on_device_) throw Error("observation: it lies on " + on_device_->device().text());
}

}  // namespace mvsim
