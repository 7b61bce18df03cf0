// Selects the observations of a task that are made on a GPU: the images of cameras, if the options ask for
// it. The CPU computes all others, which stay in its memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "batch/batch_options.h"
#include "render/gl/device_image.h"
#include "task/task.h"

namespace mvsim {

struct DeviceObservations {
  std::shared_ptr<CudaDevice> device;              // null: all are in the host's memory
  std::vector<std::optional<DeviceImage>> images;  // by key
  bool leaves_pictures = false;                    // some pictures are in the host's memory

  // Null for observations in the host's memory.
  const DeviceImage* image(size_t key) const { return images[key] ? &*images[key] : nullptr; }
};

// Opens the GPU. Throws Error, one line, if there is no such GPU, or if the task has no image of a camera or
// one that cannot be made on it.
DeviceObservations device_observations(const Task& task, Device device);

// Returns options whose worlds are drawn on the device. Throws Error if the options ask for another backend.
BatchOptions with_backend(BatchOptions options);

}  // namespace mvsim
