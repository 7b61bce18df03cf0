// PID, reference filter and odometry against closed forms.
#include "vehicle/speed_pid.h"

#include <gtest/gtest.h>

#include "vehicle/dynamics.h"

namespace mvsim::pid_test {
namespace {

TEST(Pid, Outputs) {
  PidGains gains{.kp = 10, .ki = 5};
  PidState state;
  for (double expected : {10.05, 10.10, 10.15})
    EXPECT_NEAR(pid_step(gains, state, 1, 0.01, 0), expected, 1e-12);
  gains.max_output = 8;
  state = {};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pid_step(gains, state, 1, 0.01, 0), 8);
}

TEST(Pid, AntiWindup) {
  PidGains gains{.kp = 10, .ki = 5, .max_output = 8, .anti_windup = true};
  PidState state;
  pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, 0.03975, 1e-12);
  pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, 0.0793, 1e-4);
  gains.anti_windup = false;
  state = {};
  pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, 0.05, 1e-12);
  pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, 0.10, 1e-12);
}

TEST(Pid, FirstDerivativeIsZero) {
  const PidGains gains{.kd = 3};
  PidState state;
  EXPECT_EQ(pid_step(gains, state, 1, 0.01, 0), 0);
  EXPECT_NEAR(pid_step(gains, state, 2, 0.01, 0), 300, 1e-9);
}

TEST(Pid, ReferenceFilter) {
  ReferenceFilterState first, second;
  EXPECT_NEAR(reference_filter(first, 1, 0.1, 1, 0.01), 0.09516, 1e-5);
  EXPECT_NEAR(reference_filter(second, 1, 0.1, 2, 0.01), 0.00906, 1e-5);
}

TEST(Pid, IntegralOfTheErrorIsBounded) {
  const PidGains gains{.kp = 0, .ki = 2, .integral_max = 0.5};
  PidState state;
  for (int i = 0; i < 1000; ++i) pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, 1.0, 1e-12);
}

TEST(Pid, AnIntegralOfEitherSignIsBounded) {
  const PidGains gains{.kp = 0, .ki = -2, .integral_max = 0.5};
  PidState state;
  for (int i = 0; i < 1000; ++i) pid_step(gains, state, 1, 0.01, 0);
  EXPECT_NEAR(state.integral, -1.0, 1e-12);
  for (int i = 0; i < 2000; ++i) pid_step(gains, state, -1, 0.01, 0);
  EXPECT_NEAR(state.integral, 1.0, 1e-12);
}

TEST(Odometry, TwistOfTwoWheels) {
  const WheelModel left{.tag = "l", .position = {0, 0.5}, .radius = 0.2};
  const WheelModel right{.tag = "r", .position = {0, -0.5}, .radius = 0.2};
  const WheelModel wheels[] = {left, right};
  WheelState states[2];
  states[0].spin = 4;
  states[1].spin = 5;
  const Twist2 twist = odometry_twist(wheels, states);
  EXPECT_NEAR(twist.omega, 0.2, 1e-12);
  EXPECT_NEAR(twist.vx, 0.9, 1e-12);
}

}  // namespace
}  // namespace mvsim::pid_test
