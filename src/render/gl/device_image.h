// How the image of a sensor becomes an observation in a GPU's memory: what finishes a view on the CPU
// (ViewSensor::finish, then the bounds of the observation), as numbers for the shader that does it there.
// Values only.
#pragma once

#include <cstdint>

namespace mvsim {

class CudaDevice;

// Of one observation, the same for all of its rows.
struct DeviceImage {
  CudaDevice* device = nullptr;
  // Of depth. First 0, where nothing is seen, becomes something else, then values are clipped, then mapped to
  // [0, 1], or to [-1, 1] where `low` is negative.
  bool replaces_zero = false, clips = false, normalizes = false;
  float in_place_of_zero = 0, low = 0, high = 0;  // m

  float finished(float value) const;  // without noise
};

// Of one picture of it: noise of distances, as disturb_distances() has it.
struct DeviceNoise {
  bool has_range = false;  // what comes below `low` or above `high` is none, noise or not
  bool keeps_far = false;
  float low = 0, high = 0;  // m
  double sigma = 0;         // m
  uint64_t key = 0;
  uint32_t stream = 0;
};

}  // namespace mvsim
