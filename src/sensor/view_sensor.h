// Sensors that see the visible scene, and their parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/params.h"
#include "sensor/sensor.h"
#include "sensor/view.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Sensors that see the visible scene: cameras and 3D lidars. They list their views, a renderer draws these,
// and the sensor adds its noise. sim/sense.h says when.

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

// Common tags of cameras and 3D lidars.

constexpr ParamInfo pixels_param(std::string_view name, double fallback) {
  return {.name = name, .fallback = fallback, .min = 1, .max = 16384, .type = ParamType::kInt};
}
constexpr ParamInfo distance_param(std::string_view name, double fallback) {
  return {.name = name, .fallback = fallback, .min = 0, .max = 1e5, .unit = "m"};
}
constexpr ParamInfo positive_param(std::string_view name, double fallback, std::string_view unit = {}) {
  return {.name = name, .fallback = fallback, .min = 0, .is_min_excluded = true, .unit = unit};
}
constexpr ParamInfo number_param(std::string_view name, double fallback, std::string_view unit = {}) {
  return {.name = name, .fallback = fallback, .unit = unit};
}
constexpr ParamInfo flag_param(std::string_view name, bool fallback) {
  return {.name = name, .fallback = fallback ? 1.0 : 0.0, .type = ParamType::kBool};
}

// Six rows of a table: columns, rows, cx, cy, fx, fy, as they are read into `values`.
struct Pinhole {
  int width = 0, height = 0;
  double cx = 0, cy = 0, fx = 1, fy = 1;  // px
  double near = 0, far = 1;               // m

  // `values`: width, height, cx, cy, fx, fy
  Pinhole(const double* values, double near_plane, double far_plane);
  View view(ViewContent content, const Frame3& T_sensor_view) const;
};

// Adds noise (sigma: the first of own.params) to every distance but 0. Results of `low` or less become 0.
// Results beyond `high` become 0, or the distance without noise if `keeps_far`.
void disturb_distances(const SensorOwn& own, size_t count, float low, float high, bool keeps_far,
                       float* distances);

// Returns the type and bounds of an image of this content; `high`: upper bound of distances, m.
ReadingSpec image_reading(ViewContent content, int width, int height, double high = 0);

// Throws if an image has too many pixels, or if the near plane (tag `near_tag`) is not before the far one.
void check_view(const SensorSpec& spec, const View& view, std::string_view near_tag);

}  // namespace mvsim
