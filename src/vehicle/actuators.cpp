#include "vehicle/actuators.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "vehicle/car.h"

namespace mvsim {

WheelMotor wheel_motor(const double* p) {
  const double gear = p[kGearRatio], stall = gear * p[kEfficiency] * p[kStallTorque];
  return {.stall = stall * (p[kBatteryVoltage] / p[kRatedVoltage]),
          .slope = stall * gear / p[kNoLoadSpeed],
          .inertia = gear * gear * p[kRotorInertia]};
}

double motor_torque(const WheelMotor& motor, MotorDriver driver, double command, double spin) {
  double high = motor.stall, low = -motor.stall;
  if (driver == MotorDriver::kTorque) {
    // a wheel that is faster than the motor can turn it is not driven, and not braked either
    high = std::clamp(motor.stall - motor.slope * spin, 0.0, 2 * motor.stall);
    low = std::clamp(-motor.stall - motor.slope * spin, -2 * motor.stall, 0.0);
  }
  return std::clamp(command, low, high);
}

double servo_share(const double* p, double dt) {
  const double lag = p[kServoTimeConstant];
  return lag > 0 ? 1 - math::exp(-dt / lag) : 1;
}

double servo_step(const double* p, double share, double angle, double target, double dt) {
  const double way = target - angle, most = p[kServoRate] * dt;
  const bool arrives = share == 1 || std::fabs(way) <= kServoArrived;
  if (arrives && std::fabs(way) <= most) return target;
  return angle + std::clamp(share * way, -most, most);
}

double torsen_share(const Differential& differential, double spin_1, double spin_2) {
  const double split = differential.split;
  if (spin_1 == 0 || spin_2 == 0) return split;
  const double size_1 = std::fabs(spin_1), size_2 = std::fabs(spin_2);
  const double fast = std::max(size_1, size_2), slow = std::min(size_1, size_2);
  const double excess = fast - differential.bias * slow;
  const double shift = excess > 0 ? excess / fast : 0;
  const double sign = size_1 > size_2 ? 1 : -1;
  const double first = split * (1 - sign * shift), second = (1 - split) * (1 + sign * shift);
  return first / (first + second);
}

std::array<double, 4> torque_shares(const Drivetrain& d, const std::array<double, 4>& spins) {
  using enum DrivetrainType;
  const bool torsen = d.type == kTorsenFront || d.type == kTorsenRear || d.type == kTorsen4wd;
  const auto share = [&](const Differential& differential, double spin_1, double spin_2) {
    return torsen ? torsen_share(differential, spin_1, spin_2) : differential.split;
  };
  double to_front =
      share(d.center, spins[kFrontLeft] + spins[kFrontRight], spins[kRearLeft] + spins[kRearRight]);
  if (d.type == kOpenFront || d.type == kTorsenFront) to_front = 1;
  if (d.type == kOpenRear || d.type == kTorsenRear) to_front = 0;
  const double front_left = share(d.front, spins[kFrontLeft], spins[kFrontRight]);
  const double rear_left = share(d.rear, spins[kRearLeft], spins[kRearRight]);
  std::array<double, 4> out{};
  out[kFrontLeft] = to_front * front_left;
  out[kFrontRight] = to_front * (1 - front_left);
  out[kRearLeft] = (1 - to_front) * rear_left;
  out[kRearRight] = (1 - to_front) * (1 - rear_left);
  return out;
}

}  // namespace mvsim
