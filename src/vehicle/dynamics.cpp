#include "vehicle/dynamics.h"

#include <array>

namespace mvsim {

std::span<const Dynamics* const> dynamics_classes() {
  static const auto kClasses = std::to_array<const Dynamics*>({
      &differential(),
      &differential_3_wheels(),
      &differential_4_wheels(),
      &ackermann(),
      &ackermann_drivetrain(),
  });
  return kClasses;
}

Twist2 odometry_twist(std::span<const WheelModel> wheels, std::span<const WheelState> states) {
  const double left = states[0].spin * wheels[0].radius, right = states[1].spin * wheels[1].radius;
  const double y_left = wheels[0].position.y;
  const double omega = (right - left) / (y_left - wheels[1].position.y);
  return {left + omega * y_left, 0, omega};
}

}  // namespace mvsim
