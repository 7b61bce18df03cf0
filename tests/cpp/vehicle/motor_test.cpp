// Motors and servos against their closed forms.
#include "vehicle/actuators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/math.h"

namespace mvsim::motor_test {
namespace {

// maxon RE 40 (148867) at 24 V: stall torque 2.42 N m, no-load speed 7,580 rpm, rotor 142 g cm2; speed/torque
// gradient 3.15 rpm/mN m.
constexpr double kRe40[] = {2.42, 7580 * 2 * kPi / 60, 1, 1, 142e-7, 24, 24};

TEST(Motor, SlopeIsThatOfTheDatasheet) {
  const WheelMotor motor = wheel_motor(kRe40);
  const double gradient = 1 / motor.slope * 60 / (2 * kPi) / 1000;  // rpm/mN m
  EXPECT_NEAR(gradient, 3.15, 0.02);
}

TEST(Motor, AGearMultipliesTorqueAndDividesSpeed) {
  double p[kMotorParamCount];
  std::copy(std::begin(kRe40), std::end(kRe40), p);
  p[kGearRatio] = 20, p[kEfficiency] = 0.7;
  const WheelMotor motor = wheel_motor(p);
  EXPECT_NEAR(motor.stall, 20 * 0.7 * 2.42, 1e-12);
  EXPECT_NEAR(motor.stall / motor.slope, p[kNoLoadSpeed] / 20, 1e-12);
  EXPECT_NEAR(motor.inertia, 400 * 142e-7, 1e-15);
}

TEST(Motor, AWeakBatteryTakesTorqueAndSpeedAlike) {
  double p[kMotorParamCount];
  std::copy(std::begin(kRe40), std::end(kRe40), p);
  p[kBatteryVoltage] = 12;
  const WheelMotor motor = wheel_motor(p);
  EXPECT_NEAR(motor.stall, 1.21, 1e-12);
  EXPECT_NEAR(motor.stall / motor.slope, p[kNoLoadSpeed] / 2, 1e-9);
}

TEST(Motor, TorqueUnderCommand) {
  const WheelMotor motor{.stall = 10, .slope = 2};
  EXPECT_EQ(motor_torque(motor, MotorDriver::kVoltage, 4, 3), 4);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kVoltage, 40, 3), 10);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kVoltage, -40, 3), -10);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kTorque, 3, 3), 3);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kTorque, 40, 3), 4);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kTorque, -40, 3), -16);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kTorque, 40, 6), 0);
  EXPECT_EQ(motor_torque(motor, MotorDriver::kTorque, -40, -6), 0);
}

// angle = target (1 - exp(-t / T)), at any step.
double turned(const double* p, double angle, double target, double dt) {
  return servo_step(p, servo_share(p, dt), angle, target, dt);
}

TEST(Servo, LagIsOfFirstOrder) {
  const double p[] = {1e6, 0.2};
  for (const double dt : {0.001, 0.01}) {
    double angle = 0;
    for (int i = 0; i < static_cast<int>(std::lround(0.3 / dt)); ++i) angle = turned(p, angle, 0.5, dt);
    EXPECT_NEAR(angle, 0.5 * (1 - std::exp(-1.5)), 1e-12);
  }
}

TEST(Servo, RateIsLimitedAndTheTargetIsReachedExactly) {
  const double p[] = {2, 0};
  double angle = 0;
  for (int i = 0; i < 20; ++i) angle = turned(p, angle, 0.5, 0.01);
  EXPECT_NEAR(angle, 0.4, 1e-12);
  for (int i = 0; i < 20; ++i) angle = turned(p, angle, 0.5, 0.01);
  EXPECT_EQ(angle, 0.5);
  EXPECT_NEAR(turned(p, angle, -0.5, 0.01), 0.48, 1e-12);
}

}  // namespace
}  // namespace mvsim::motor_test
