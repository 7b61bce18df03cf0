#include "batch/device_array.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sensor/view_sensor.h"
#include "views/draw_views.h"
#include "views/view_backend.h"

namespace mvsim {
namespace {

constexpr uint32_t kMajor = 1, kMinor = 0;
constexpr int64_t kAmbiguousStream = 0, kLegacyStream = 1, kNoWaiting = -1;

dlpack::DataType data_type(DType dtype) {
  const bool is_float = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  return {is_float ? dlpack::kFloatingPoint : dlpack::kUnsigned, static_cast<uint8_t>(8 * size_of(dtype)), 1};
}

// The objects that an exported tensor refers to.
struct Exported {
  std::shared_ptr<CudaMemory> memory;
  std::vector<std::byte> host;
  std::vector<int64_t> shape, strides;
  dlpack::Managed plain{};
  dlpack::ManagedVersioned versioned{};
};

template <typename Managed>
void let_go(Managed* managed) {
  delete static_cast<Exported*>(managed->owner);  // NOLINT(cppcoreguidelines-owning-memory)
}

std::string text_of(const std::pair<int32_t, int32_t>& device) {
  return "(" + std::to_string(device.first) + ", " + std::to_string(device.second) + ")";
}

// Returns how the observation is made on a GPU, if it is an image of a camera.
std::optional<DeviceImage> device_image(const Task& task, const ObservationSlot& slot, Device device) {
  const Picture* const picture = slot.term->picture();
  const auto index = picture ? picture->image() : std::nullopt;
  const Model& model = *task.models.front();
  if (!index || !draws_by_egl(model, index->sensor, index->image)) return std::nullopt;
  const std::string& key = task.observation_specs[slot.index].key;
  const std::string found = "device: found '" + name_of(device) + "', but the observation '" + key + "' ";
  if (slot.history > 1)
    throw Error(
        found + "has history=\"" + std::to_string(slot.history) +
        "\", expected 1: former frames are not kept on a GPU; stack the arrays of several steps there, or "
        "leave out device= to have NumPy arrays");
  const auto& sensor = static_cast<const ViewSensor&>(*model.sensors[index->sensor].sensor);
  if (sensor.finish_of(index->image).kind == ImageFinish::kOwn)
    throw Error(found +
                "is finished by its sensor on the CPU, expected one of the classes camera and rgbd_camera");
  DeviceImage image{.clips = slot.clips && slot.dtype == DType::kFloat32,
                    .normalizes = slot.normalize,
                    .low = slot.low.front(),
                    .high = slot.high.front()};
  if (const std::optional<float> value = picture->in_place_of_zero())
    image.replaces_zero = true, image.in_place_of_zero = *value;
  return image;
}

}  // namespace

DeviceArray::DeviceArray(std::shared_ptr<CudaMemory> memory, DType dtype, std::vector<size_t> shape,
                         Moment moment)
    : memory_(std::move(memory)),
      address_(memory_->address()),
      dtype_(dtype),
      shape_(std::move(shape)),
      moment_(std::move(moment)),
      made_at_(moment_ ? moment_->load() : 0) {}

size_t DeviceArray::bytes() const {
  return std::accumulate(shape_.begin(), shape_.end(), size_of(dtype_), std::multiplies<>());
}

void DeviceArray::require_current() const {
  if (!is_current())
    throw ExportRefused("this array on " + device().text() +
                        " is of an earlier step, reset or restore, and its memory has been written again: "
                        "take the array of the "
                        "latest observation, or copy() one that is to stay");
}

DeviceArray DeviceArray::row(size_t index) const {
  require_current();
  if (shape_.empty() || index >= shape_.front())
    throw Error("index: found " + std::to_string(index) + ", expected less than " +
                std::to_string(shape_.empty() ? 0 : shape_.front()));
  DeviceArray out = *this;
  out.shape_.erase(out.shape_.begin());
  out.address_ += index * out.bytes();
  return out;
}

DeviceArray DeviceArray::copy() const {
  require_current();
  DeviceArray out(device().allocate(bytes()), dtype_, shape_, nullptr);
  device().copy(out.address_, address_, bytes());
  return out;
}

void DeviceArray::fetch(void* to) const {
  require_current();
  device().fetch(to, address_, bytes());
}

DlpackExport DeviceArray::to_dlpack(const DlpackWish& wish) const {
  require_current();
  const std::pair<int32_t, int32_t> here{dlpack::kCuda, device().ordinal()}, host{dlpack::kCpu, 0};
  const std::pair<int32_t, int32_t> place = wish.device.value_or(here);
  const int64_t stream = wish.stream.value_or(kLegacyStream);
  if (stream < kNoWaiting || stream == kAmbiguousStream)
    throw ExportRefused(
        "stream: found " + std::to_string(stream) +
        ", expected None, 1 (the legacy default stream), 2 (that of the thread), -1 or the address of one");
  if (place != here && place != host)
    throw ExportRefused("dl_device: found " + text_of(place) + ", expected " + text_of(here) +
                        ", where it lies, or " + text_of(host) + ", the host");
  if (place == host && wish.copy == false)
    throw ExportRefused("copy: found False, but the array lies on " + device().text() +
                        ", and the host needs a copy");

  const bool copies = place == host || wish.copy == true;
  const DeviceArray source = copies && place == here ? copy() : *this;
  auto out = std::make_unique<Exported>();
  if (place == host) {
    out->host.resize(bytes());
    fetch(out->host.data());
  } else {
    out->memory = source.memory_;
    device().ready_for(stream);
  }
  out->shape.assign(shape_.begin(), shape_.end());
  out->strides.resize(shape_.size());
  int64_t stride = 1;
  for (size_t i = shape_.size(); i-- > 0; stride *= out->shape[i]) out->strides[i] = stride;
  const dlpack::Tensor tensor{
      .data = place == host ? static_cast<void*>(out->host.data()) : cuda::pointer_of(source.address_),
      .device = {place.first, place.second},
      .ndim = static_cast<int32_t>(shape_.size()),
      .dtype = data_type(dtype_),
      .shape = out->shape.data(),
      .strides = out->strides.data(),
      .byte_offset = 0};
  Exported* const owner = out.release();
  owner->plain = {tensor, owner, &let_go<dlpack::Managed>};
  owner->versioned = {
      {kMajor, kMinor}, owner, &let_go<dlpack::ManagedVersioned>, copies ? dlpack::kIsCopied : 0, tensor};
  if (wish.max_version && wish.max_version->first >= kMajor) return {.versioned = &owner->versioned};
  return {.plain = &owner->plain};
}

DeviceObservations device_observations(const Task& task, Device device) {
  DeviceObservations out;
  out.images.resize(task.observation_specs.size());
  out.leaves_pictures = task.has_pictures;
  if (device.is_host()) return out;
  const std::vector<ObservationSlot>& slots = task.agents.front().observations;
  out.leaves_pictures = false;
  for (size_t k = 0; k < slots.size(); ++k) {
    out.images[k] = device_image(task, slots[k], device);
    out.leaves_pictures = out.leaves_pictures || (slots[k].is_picture() && !out.images[k]);
  }
  if (std::ranges::none_of(out.images, [](const auto& image) { return image.has_value(); }))
    throw Error(
        "device: found '" + name_of(device) +
        "', but the environment observes no image of a camera (image, depth, labels), and all else is "
        "computed by the CPU: leave out device= to have NumPy arrays");
  out.device = cuda_device_of_views(device.cuda_ordinal);
  for (auto& image : out.images)
    if (image) image->device = out.device.get();
  return out;
}

BatchOptions with_backend(BatchOptions options) {
  if (!options.device.is_host())
    options.load.camera_backend = backend_on_gpu(options.load.camera_backend, name_of(options.device));
  return options;
}

}  // namespace mvsim
