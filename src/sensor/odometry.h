// Odometry: the way of a vehicle since the reset, with an error of scale along each axis. Every vehicle has
// one built in; it is read at every step and no world lists it.
#pragma once

#include "sensor/sensor.h"

namespace mvsim {

// Its memory, and its reading (float64), is x, y (m) and yaw (rad) in the frame of the start.
class Odometry final : public StateSensor {
 public:
  Odometry();
  size_t memory_size() const override { return 3; }
  void add_config(ArchiveHasher&) const override {}  // its parameters are all of it
  void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values, uint8_t* valid) const override;

  // Returns `sum` plus the true displacement of a step, in the vehicle's frame and scaled by three
  // multipliers. `heading_before`: of before.yaw.
  static Pose2 add(const Pose2& sum, const double* multipliers, const Pose2& before,
                   const Rotation2& heading_before, const Pose2& after) {
    const Vec2 moved = heading_before.unrotate({after.x - before.x, after.y - before.y});
    return compose(
        sum, {multipliers[0] * moved.x, multipliers[1] * moved.y, multipliers[2] * (after.yaw - before.yaw)});
  }
};

const Odometry& built_in_odometry();

}  // namespace mvsim
