// Sensors that read only the motion of their vehicle: odometry, IMU, GNSS.
#pragma once

#include <utility>

#include "sensor/sensor.h"
#include "sensor/site.h"

namespace mvsim {

// A vehicle at the end of a time step; world frame, of its reference point. In a reading between
// steps, `pose_before` equals `pose`: a sensor that sums up motion keeps the last pose in its memory.
struct BodyMotion {
  double time = 0;  // s
  Pose3 pose{};
  Twist2 twist{};
  Vec2 acceleration{};         // m/s2, the difference of the velocity over the step
  Pose2 pose_before{};         // at the start of the step
  Rotation2 heading_before{};  // of pose_before.yaw
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

}  // namespace mvsim
