// Sensors: their base class, their site in the world, sensors of the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/array.h"
#include "base/geometry.h"
#include "base/params.h"
#include "base/random.h"

namespace mvsim {

// Base class of all sensors. A Sensor is the immutable compiled form of one <sensor>. Its changing
// part (parameters, random stream, memory, last reading) belongs to the state of a simulation.
//
// There are three kinds, by the input that they need: StateSensor below, RaySensor (ray_sensor.h) and
// ViewSensor (view_sensor.h). A class derives from one of them.

// A reading as an array, row-major.
struct ReadingSpec {
  DType dtype = DType::kFloat32;
  std::vector<size_t> shape;
  double low = 0, high = 0;  // of all values
  std::string_view unit;     // SI; "" for a share, a factor or a count

  size_t size() const {
    size_t size = 1;
    for (const size_t n : shape) size *= n;
    return size;
  }
  size_t bytes() const { return size() * size_of(dtype); }
};

enum class SensorKind : uint8_t { kState, kRay, kView };

// Description of a compiled sensor by its class.
struct SensorInfo {
  Pose3 mount;                        // T_vehicle_sensor
  std::span<const ParamInfo> params;  // that an environment may randomise, e.g. noise
  std::vector<double> nominal_params;
  ReadingSpec reading;
};

// Part of a simulation's state that belongs to one sensor.
struct SensorOwn {
  const double* params;
  double* memory;
  RandomStream* noise;
};

class Sensor {
 public:
  virtual ~Sensor() = default;
  SensorKind kind() const { return kind_; }
  const Pose3& mount() const { return info_.mount; }
  std::span<const ParamInfo> params() const { return info_.params; }
  std::span<const double> nominal_params() const { return info_.nominal_params; }
  const ReadingSpec& reading() const { return info_.reading; }
  // Numbers that it keeps from one reading to the next: SensorOwn::memory, 0 at a reset.
  virtual size_t memory_size() const { return 0; }
  // Hashes everything that shapes its readings. A sensor keeps its configuration in one plain struct,
  // which is hashed with all its fields.
  virtual void add_config(ArchiveHasher& hasher) const = 0;

 protected:
  Sensor(SensorKind kind, SensorInfo info) : kind_(kind), info_(std::move(info)) {}

 private:
  SensorKind kind_;
  SensorInfo info_;
};

// Place of a world on the Earth, and its regions without satellites.

// A box of the world, edges included, in which a receiver has a fix or none.
struct CoverageRegion {
  Rect extent;
  double z_min = 0, z_max = 0;
  bool hides = false;
};

struct Site {
  Geodetic reference;   // of the tangent plane's origin
  double rotation = 0;  // rad from the world's x to east
  Vec3 origin;          // of the plane, in the world: not 0 where the world is in UTM coordinates
  TangentPlane plane;   // follows from the reference
  std::vector<CoverageRegion> regions;  // the first that holds a point decides

  // East, north, up of a point of the world, m.
  Vec3 enu(Vec3 world) const;
  bool is_covered(Vec3 world) const;
};

// Sensors that read only the motion of their vehicle: IMU, GNSS; and the odometry.

// A vehicle at the end of a time step; world frame, of its reference point.
struct BodyMotion {
  double time = 0;  // s
  Pose3 pose{};
  Twist2 twist{};
  Vec2 acceleration{};         // m/s2, the difference of the velocity over the step
  double gravity = 0;          // m/s2
  const Site* site = nullptr;  // none: the world is nowhere on the Earth
};

class StateSensor : public Sensor {
 public:
  // Writes reading().bytes() and a flag for each value; `valid` may be null.
  virtual void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values,
                    uint8_t* valid) const = 0;

 protected:
  explicit StateSensor(SensorInfo info) : Sensor(SensorKind::kState, std::move(info)) {}
};

// Returns the odometry `sum` (the way of a vehicle since the reset, in the frame of its start) plus the true
// displacement of a step, in the vehicle's frame and scaled by three multipliers. Every vehicle has one
// odometry, which no world lists. `heading_before`: of before.yaw.
inline Pose2 add_odometry(const Pose2& sum, const double* multipliers, const Pose2& before,
                          const Rotation2& heading_before, const Pose2& after) {
  const Vec2 moved = heading_before.unrotate({after.x - before.x, after.y - before.y});
  return compose(
      sum, {multipliers[0] * moved.x, multipliers[1] * moved.y, multipliers[2] * (after.yaw - before.yaw)});
}

}  // namespace mvsim
