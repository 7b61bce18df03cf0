// Controller `twist_wheels`: wheels of given speeds, and the motion of the body.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::twist_wheels_test {
namespace {

constexpr const char* kWheels = "<controller class='twist_wheels'/>";
const std::string kStep = "<simul_timestep>0.005</simul_timestep>";

TEST(TwistWheels, TurnAsCommandedFromTheFirstStepOn) {
  Simulation sim(model_of(kStep + bot("r", kWheels, kOrigin)), 0);
  sim.set_twist(0, 0.5, 1.0);
  for (int i = 0; i < 400; ++i) {
    sim.step();
    const auto wheels = wheel_states(sim, 0);
    ASSERT_DOUBLE_EQ(wheels[0].spin, (0.5 - 0.3) / 0.2);
    ASSERT_DOUBLE_EQ(wheels[1].spin, (0.5 + 0.3) / 0.2);
  }
  // two wheels that grip lead the body without slip, and without losses need no torque
  const Twist2 twist = vehicle_twist(sim, 0);
  EXPECT_NEAR(twist.vx, 0.5, 1e-3);
  EXPECT_NEAR(twist.omega, 1.0, 1e-2);
}

// The body gains mu g, and no more, from wheels that spin.
TEST(TwistWheels, PushNoMoreThanTheGroundHolds) {
  constexpr double kMu = 0.05, kSeconds = 1;
  Simulation sim(model_of(kStep + four_wheels(kWheels, kOrigin, kMu)), 0);
  sim.set_twist(0, 2.0, 0);
  for (int i = 0; i < kSeconds / 0.005; ++i) sim.step();
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, kMu * 9.81 * kSeconds, 0.03);
  // what holds the spins against the ground: mu N R, and the bearings
  for (const WheelState& w : wheel_states(sim, 0))
    EXPECT_NEAR(w.torque, kMu * (12.0 / 4 + 0.8) * 9.81 * 0.1 + 0.01 * w.spin, 0.01);
}

TEST(TwistWheels, LeaveACasterToRoll) {
  Simulation sim(model_of(kStep + vehicle("differential_3_wheels", kWheels, "<friction class='default'/>")),
                 0);
  sim.set_twist(0, 0.5, 0);
  for (int i = 0; i < 400; ++i) sim.step();
  EXPECT_NEAR(wheel_states(sim, 0)[2].spin, 0.5 / 0.2, 0.05);
}

}  // namespace
}  // namespace mvsim::test::twist_wheels_test
