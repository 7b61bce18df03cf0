#include "batch/device_observations.h"

#include <algorithm>

#include "render/gl/cuda_device.h"
#include "sensor/view_sensor.h"
#include "views/draw_views.h"
#include "views/view_backend.h"

namespace mvsim {
namespace {

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
