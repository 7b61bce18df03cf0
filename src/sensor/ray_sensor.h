// Sensors that cast rays into the geometry of a scene: lidars.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "raycast/grid_field.h"
#include "raycast/static_shapes.h"
#include "sensor/sensor.h"

namespace mvsim {

struct PlacedGrid {
  const GridField* field;
  Pose2 T_world_grid;
};

// A convex outline that may move or change size, in the world frame.
struct MovingShape {
  const Vec2* vertices;
  int count;
  Vec2 center;
  double radius;  // of a circle about `center` that holds all vertices
  int body;
};

// What rays meet in one simulation at one moment.
struct SensorScene {
  std::span<const PlacedGrid> grids;
  const StaticShapes* static_shapes = nullptr;
  std::span<const MovingShape> moving;
};

struct SensorMount {
  Pose3 T_world_vehicle;
  int body = -1;  // own body, never seen by a 2D lidar
};

// Its reading holds float32 ranges in [0, reading().high], one for each ray.
class RaySensor : public Sensor {
 public:
  std::span<const double> angles() const { return angles_; }  // rad of each ray, sensor frame
  // Writes a range and a flag (did it hit?) for each ray; `valid` may be null.
  virtual void read(const SensorOwn& own, const SensorScene& scene, const SensorMount& mount, float* ranges,
                    uint8_t* valid) const = 0;

 protected:
  RaySensor(SensorInfo info, std::vector<double> angles)
      : Sensor(SensorKind::kRay, std::move(info)), angles_(std::move(angles)) {}

 private:
  std::vector<double> angles_;
};

// `sensor` if it is one, else null.
inline const RaySensor* as_ray_sensor(const Sensor& sensor) {
  return sensor.kind() == SensorKind::kRay ? static_cast<const RaySensor*>(&sensor) : nullptr;
}

}  // namespace mvsim
