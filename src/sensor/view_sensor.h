// Sensors that see the scene as eyes do: cameras and 3D lidars. They say which views they want; a renderer
// draws these, and the sensor adds what is its own (noise). sim/view_recipe.h says when.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sensor/sensor.h"
#include "sensor/view.h"

namespace mvsim {

// One image of a sensor, e.g. "depth".
struct ViewImage {
  std::string_view name;
  ReadingSpec reading;
  View view;
};

// What makes a sensor's image of what was drawn: nothing, noise of its distances (disturb_distances), or
// ViewSensor::finish_own(). The first two can be done where the pixels are, on a GPU.
struct ImageFinish {
  enum Kind : uint8_t { kNothing, kDistanceNoise, kOwn } kind = kNothing;
  float low = 0, high = 0;  // m, of distances
  bool keeps_far = false;
};

class ViewSensor : public Sensor {
 public:
  // At least one; the first is reading().
  std::span<const ViewImage> images() const { return images_; }
  virtual ImageFinish finish_of(size_t image) const {
    (void)image;
    return {};
  }
  // Changes what was drawn of an image into the sensor's, as finish_of() says. A function of its arguments
  // alone: the image is drawn again, bit for bit, where a snapshot is restored. No memory; the noise is of
  // this image alone.
  void finish(size_t image, const SensorOwn& own, std::byte* pixels) const;

 protected:
  // What ImageFinish::kOwn stands for.
  virtual void finish_own(size_t image, const SensorOwn& own, std::byte* pixels) const {
    (void)image, (void)own, (void)pixels;
  }
  // `info` without its reading.
  ViewSensor(SensorInfo info, std::vector<ViewImage> images)
      : Sensor(SensorKind::kView, with_reading(std::move(info), images)), images_(std::move(images)) {}

 private:
  static SensorInfo with_reading(SensorInfo info, const std::vector<ViewImage>& images) {
    info.reading = images.front().reading;
    return info;
  }

  std::vector<ViewImage> images_;
};

// `sensor` if it is one, else null.
inline const ViewSensor* as_view_sensor(const Sensor& sensor) {
  return sensor.kind() == SensorKind::kView ? static_cast<const ViewSensor*>(&sensor) : nullptr;
}

}  // namespace mvsim
