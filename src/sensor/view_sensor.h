// Sensors that see the scene as eyes do: cameras. They say which view they want; a renderer draws it, and
// they make the reading of what was drawn. sim/view_recipe.h says when.
#pragma once

#include <span>
#include <utility>

#include "scene/scene.h"
#include "sensor/sensor.h"

namespace mvsim {

// A pinhole camera whose frame is the sensor's: x right, y down, z forward.
struct View {
  int width = 0, height = 0;
  double fx = 0, fy = 0, cx = 0, cy = 0;  // px
  double near = 0.01, far = 1e4;          // m along z
};

// What is seen in one simulation at one moment, and what a renderer drew of it: row by row from the top. No
// renderer draws for sensors yet, so color and depth are empty.
struct DrawnView {
  const Scene* scene = nullptr;
  std::span<const ScenePose> poses;
  Frame3 T_world_sensor;
  std::span<const uint8_t> color{};  // red, green, blue
  std::span<const float> depth{};    // m along z
};

class ViewSensor : public Sensor {
 public:
  virtual View view() const = 0;
  // Writes reading().bytes(). The picture is a function of its arguments alone: it is drawn again, bit for
  // bit, where a snapshot is restored. No memory; the noise is of this picture alone.
  virtual void make_picture(const SensorOwn& own, const DrawnView& drawn, std::byte* picture) const = 0;

 protected:
  explicit ViewSensor(SensorInfo info) : Sensor(SensorKind::kView, std::move(info)) {}
};

// `sensor` if it is one, else null.
inline const ViewSensor* as_view_sensor(const Sensor& sensor) {
  return sensor.kind() == SensorKind::kView ? static_cast<const ViewSensor*>(&sensor) : nullptr;
}

}  // namespace mvsim
