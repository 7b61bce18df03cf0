// Sensors that see the visible scene: cameras and 3D lidars. They list their views, a renderer draws these,
// and the sensor adds its noise. sim/view_recipe.h says when.
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

// Step from a drawn image to the sensor's: nothing, noise of its distances (disturb_distances), or
// ViewSensor::finish_own(). The first two also run on a GPU.
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
  // Changes a drawn image into the sensor's, as finish_of() says. It depends on its arguments alone, because
  // the image is drawn again, bit for bit, after a snapshot is restored. The noise of each image is
  // independent.
  void finish(size_t image, const SensorOwn& own, std::byte* pixels) const;

 protected:
  // Finishes an image whose ImageFinish is kOwn.
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
