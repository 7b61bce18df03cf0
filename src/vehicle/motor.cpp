#include "vehicle/motor.h"

#include <algorithm>

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

}  // namespace mvsim
