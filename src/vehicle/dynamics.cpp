#include "vehicle/dynamics.h"

namespace mvsim {

// The registered classes: one line each. Here and not in a function, where `class` would declare a local one.
static constexpr const Dynamics& (*kRegistered[])() = {
    registered<Dynamics, class DifferentialTwoWheels>,  registered<Dynamics, class DifferentialThreeWheels>,
    registered<Dynamics, class DifferentialFourWheels>, registered<Dynamics, class Ackermann>,
    registered<Dynamics, class AckermannDrivetrain>,
};

std::span<const Dynamics* const> dynamics_classes() {
  static const auto kClasses = objects_of(kRegistered);
  return kClasses;
}

Twist2 odometry_twist(std::span<const WheelModel> wheels, std::span<const WheelState> states) {
  const double left = states[0].spin * wheels[0].radius, right = states[1].spin * wheels[1].radius;
  const double y_left = wheels[0].position.y;
  const double omega = (right - left) / (y_left - wheels[1].position.y);
  return {left + omega * y_left, 0, omega};
}

}  // namespace mvsim
