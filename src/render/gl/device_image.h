// Parameters of a shader that converts the image of a sensor to an observation in a GPU's memory. On the CPU
// the same work is done by ViewSensor::finish and by the bounds of the observation. Values only.
#pragma once

#include <cstdint>

namespace mvsim {

class CudaDevice;

// Parameters of one observation, common to all of its rows.
struct DeviceImage {
  CudaDevice* device = nullptr;
  // For depth. First 0 (no return) is replaced, then values are clipped, then they are mapped to [0, 1], or
  // to [-1, 1] if `low` is negative.
  bool replaces_zero = false, clips = false, normalizes = false;
  float in_place_of_zero = 0, low = 0, high = 0;  // m

  float finished(float value) const;  // without noise
};

// Parameters of one picture: noise of distances as in disturb_distances().
struct DeviceNoise {
  bool has_range = false;  // values below `low` or above `high` count as no return, with and without noise
  bool keeps_far = false;
  float low = 0, high = 0;  // m
  double sigma = 0;         // m
  uint64_t key = 0;
  uint32_t stream = 0;
};

}  // namespace mvsim
