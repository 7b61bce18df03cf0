// Seam: a sensor. One file per sensor class, one line in sensor_classes().
//
// A Sensor is the immutable compiled form of one <sensor>; what changes (noise parameters, random stream,
// last reading) belongs to the Simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/geometry.h"
#include "base/load_guard.h"
#include "base/params.h"
#include "base/random.h"
#include "raycast/grid_field.h"
#include "raycast/static_shapes.h"
#include "worldfile/world_spec.h"

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

// What sensors see of one simulation at one moment.
struct SensorScene {
  std::span<const PlacedGrid> grids;
  const StaticShapes* static_shapes = nullptr;
  std::span<const MovingShape> moving;
};

struct SensorMount {
  Pose3 T_world_vehicle;
  int body = -1;  // own body, never seen by a 2D lidar
};

class Sensor {
 public:
  virtual ~Sensor() = default;
  virtual std::string_view class_name() const = 0;
  virtual std::span<const ParamInfo> params() const = 0;  // randomisable, e.g. noise
  virtual std::span<const double> nominal_params() const = 0;
  virtual size_t size() const = 0;                     // values a reading
  virtual double max_value() const = 0;                // values lie in [0, max_value]
  virtual std::span<const double> angles() const = 0;  // rad of each ray, sensor frame; empty if no rays
  virtual Pose3 mount_pose() const = 0;                // T_vehicle_sensor
  // Everything that shapes its readings. Whoever adds a sensor keeps what was configured in one struct whose
  // visit() takes the fields by a structured binding: a forgotten one does not compile.
  virtual void add_config(ArchiveHasher& hasher) const = 0;
  // Writes size() values and validity flags (`valid` may be null).
  virtual void read(const double* p, const SensorScene& scene, const SensorMount& mount, RandomStream& random,
                    float* values, uint8_t* valid) const = 0;
};

class SensorClass {
 public:
  virtual ~SensorClass() = default;
  virtual std::string_view name() const = 0;
  // Counts the memory of its tables and readings before it takes it.
  virtual std::unique_ptr<const Sensor> compile(const SensorSpec& spec, LoadGuard& guard,
                                                std::vector<std::string>& warnings) const = 0;
};

std::span<const SensorClass* const> sensor_classes();

}  // namespace mvsim
