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

class ViewSensor : public Sensor {
 public:
  // At least one; the first is reading().
  std::span<const ViewImage> images() const { return images_; }
  // Changes what was drawn of an image into the sensor's: noise. A function of its arguments alone: the image
  // is drawn again, bit for bit, where a snapshot is restored. No memory; the noise is of this image alone.
  virtual void finish(size_t image, const SensorOwn& own, std::byte* pixels) const {
    (void)image, (void)own, (void)pixels;
  }

 protected:
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
