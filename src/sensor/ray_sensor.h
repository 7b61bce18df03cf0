// Sensors that cast rays into the geometry of a scene: lidars.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "raycast/grid_field.h"
#include "raycast/static_shapes.h"
#include "sensor/sensor.h"

namespace mvsim {

struct View;

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

// Shapes that rays can meet in one simulation at one moment.
struct SensorScene {
  std::span<const PlacedGrid> grids;
  const StaticShapes* static_shapes = nullptr;
  std::span<const MovingShape> moving;
};

struct SensorMount {
  Pose3 T_world_vehicle;
  int body = -1;  // own body, never seen by a 2D lidar
};

// Its reading holds float32 ranges in [0, reading().high], one for each ray. A
// sensor with a view reads the distances of that view. A sensor without one casts its rays in the plane.
class RaySensor : public Sensor {
 public:
  std::span<const double> angles() const { return angles_; }  // rad of each ray, sensor frame
  // View of distances along its rays in the visible scene: one ring, a column for each ray; null: no view.
  const View* view() const { return view_.get(); }

  // Each writes a range and a flag (did it hit?) for each ray; `valid` may be null. `seen`: the
  // distances of the view, m, 0 where nothing is seen.
  virtual void read(const SensorOwn& own, const SensorScene& scene, const SensorMount& mount, float* ranges,
                    uint8_t* valid) const {
    (void)own, (void)scene, (void)mount, (void)ranges, (void)valid;
  }
  virtual void read_view(const SensorOwn& own, const float* seen, float* ranges, uint8_t* valid) const {
    (void)own, (void)seen, (void)ranges, (void)valid;
  }

 protected:
  RaySensor(SensorInfo info, std::vector<double> angles, std::shared_ptr<const View> view = {})
      : Sensor(SensorKind::kRay, std::move(info)), angles_(std::move(angles)), view_(std::move(view)) {}

 private:
  std::vector<double> angles_;
  std::shared_ptr<const View> view_;
};

// `sensor` if it is one, else null.
inline const RaySensor* as_ray_sensor(const Sensor& sensor) {
  return sensor.kind() == SensorKind::kRay ? static_cast<const RaySensor*>(&sensor) : nullptr;
}

}  // namespace mvsim
