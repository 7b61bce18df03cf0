// Which observations of a task lie on a GPU: the images of cameras, if the options say so. All else is
// computed by the CPU and stays there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "batch/batch_options.h"
#include "render/gl/device_image.h"
#include "task/task.h"

namespace mvsim {

struct DeviceObservations {
  std::shared_ptr<CudaDevice> device;              // null: all lie in the host's memory
  std::vector<std::optional<DeviceImage>> images;  // by key
  bool leaves_pictures = false;                    // some pictures lie in the host's memory

  // Null for those of the host.
  const DeviceImage* image(size_t key) const { return images[key] ? &*images[key] : nullptr; }
};

// Opens the GPU. Throws Error, one line, where the task has no image of a camera, has one that cannot be made
// there, or where there is no such GPU.
DeviceObservations device_observations(const Task& task, Device device);

// Options whose worlds are drawn where the device is: throws Error if they say otherwise.
BatchOptions with_backend(BatchOptions options);

}  // namespace mvsim
