// Odometry: the way of a vehicle since the reset, with an error of scale along each axis. Every vehicle has
// one built in; it is read at every step and no world lists it.
#pragma once

#include "sensor/state_sensor.h"

namespace mvsim {

// Its memory, and its reading (float64), is x, y (m) and yaw (rad) in the frame of the start.
class Odometry final : public StateSensor {
 public:
  Odometry();
  size_t memory_size() const override { return 3; }
  void add_config(ArchiveHasher&) const override {}  // its parameters are all of it
  void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values, uint8_t* valid) const override;
};

const Odometry& built_in_odometry();

}  // namespace mvsim
