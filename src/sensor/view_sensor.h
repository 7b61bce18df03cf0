// Sensors that see the scene as eyes do: cameras and 3D lidars. They say which views they want; a renderer
// draws these, and the sensor adds what is its own (noise). sim/view_recipe.h says when.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/geometry3.h"
#include "base/math.h"
#include "sensor/sensor.h"

namespace mvsim {

// What each pixel of a view holds. Of what nothing is seen: the sky's colour, 0 m, label 0, intensity 0.
enum class ViewContent : uint8_t {
  kColor,      // uint8 [height, width, 3]: red, green, blue
  kDepth,      // float32 [height, width], m: along z of a pinhole camera, along the ray of rings
  kLabels,     // uint16 [height, width]: Instance::label
  kIntensity,  // float32 [height, width], 0 to 1: luma of the colour
};

// A camera or a lidar, in the frame of its view. A pinhole looks along z, x right, y down: the ray of column
// c and row r goes through x = (c - cx) / fx, y = (r - cy) / fy, z = 1. Rings turn about z, x forward, y
// left: row r has the elevation of rings[r], column c the azimuth of columns[c].
struct View {
  ViewContent content = ViewContent::kColor;
  int width = 0, height = 0;
  double fx = 1, fy = 1, cx = 0, cy = 0;  // px, of a pinhole
  std::vector<SinCos> rings, columns;     // of elevations, ascending, and azimuths; empty: a pinhole
  double near = 0.01, far = 1e4;          // m, as kDepth counts: what is nearer or farther is not seen
  Frame3 T_sensor_view;
  bool hides_vehicle = false;  // its own vehicle is not seen

  bool is_pinhole() const { return rings.empty(); }
  // What may be passed by from one pixel to the next, at a distance of 1.
  double pixel_angle() const { return is_pinhole() ? 1 / std::max(fx, fy) : 2 * kPi / width; }
};

// Whether both see along the same rays, perhaps other things: what a sensor's images often do.
bool have_same_rays(const View& a, const View& b);

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
