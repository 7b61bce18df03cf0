// Friction model `skid` against its closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tire/tire_rig.h"

namespace mvsim::skid_tire_test {
namespace {

using namespace test;

const TireModel& skid() {
  return tire_named("skid");
}

TireInput wheel() {
  TireInput in;
  in.dt = 0.005;
  in.mass = in.effective_mass = 5;
  in.load = 5 * 9.81;
  in.radius = 0.1;
  in.inertia = 0.005;
  return in;
}

// A heavy wheel keeps its spin over a step, so that its slip is known.
TireOutput slide(double slip, double vy, double icr_expansion, double spread) {
  TireInput in = wheel();
  in.inertia = 1e9;
  in.velocity = {1, vy};
  in.spin = (1 + slip) / in.radius;
  in.wheel_spread = spread;
  const auto p = params_of(skid(), {{"mu", 0.6}, {"C_damping", 0}, {"icr_expansion", icr_expansion}});
  return skid().step(p.data(), in);
}

TEST(SkidTire, FrictionOpposesTheSlip) {
  for (const double angle : {0.0, 0.4, 1.2, 2.0, 3.0, -1.0}) {
    const TireOutput out = slide(2 * std::cos(angle), 2 * std::sin(angle), 1.7, 0.7);  // k = 1
    EXPECT_NEAR(out.force.x, 0.6 * 5 * 9.81 * std::cos(angle), 1e-5) << angle;
    EXPECT_NEAR(out.force.y, -0.6 * 5 * 9.81 * std::sin(angle), 1e-5) << angle;
  }
}

TEST(SkidTire, LimitsAreAnEllipseOfTheExpansion) {
  // k^2 = (2.25 - 1) / 0.8
  const double limit = 0.6 * 5 * 9.81, k = 1.25;
  EXPECT_NEAR(slide(2, 0, 2.25, 0.8).force.x, limit, 1e-5);
  EXPECT_NEAR(slide(0, 2, 2.25, 0.8).force.y, -k * limit, 1e-5);
  const TireOutput both = slide(1.5, -0.7, 2.25, 0.8);
  EXPECT_NEAR(std::hypot(both.force.x, both.force.y / k), limit, 1e-5);
}

// A wheel with an inertia: the result satisfies the equation of its step.
TEST(SkidTire, TheStepIsImplicitInTheSlip) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  const auto p = params_of(skid(), {{"mu", 0.8}, {"C_damping", 0}});
  for (int i = 0; i < 5000; ++i) {
    TireInput in = wheel();
    in.inertia = std::pow(10, random.uniform(-5, 1));
    in.torque = random.uniform(-20, 20);
    in.velocity = {random.uniform(-3, 3), random.uniform(-2, 2)};
    in.spin = random.uniform(-40, 40);
    const TireOutput out = skid().step(p.data(), in);
    const double slip = out.spin * in.radius - in.velocity.x;
    const double moved = in.inertia * (out.spin - in.spin) / in.dt;
    EXPECT_NEAR(moved, in.torque - in.radius * out.force.x, 1e-6 * (1 + std::fabs(moved)));
    const double size = std::hypot(slip, in.velocity.y);
    const double c = std::min(in.mass / in.dt, 0.8 * in.load / size);
    EXPECT_NEAR(out.force.x, c * slip, 1e-6 * in.load);
    EXPECT_NEAR(out.force.y, -c * in.velocity.y, 1e-9 * in.load);
  }
}

TEST(SkidTire, RollsAndRests) {
  TireRig rig(skid(), params_of(skid(), {{"C_damping", 0}}));
  rig.roll_at(2);
  rig.run(1);
  EXPECT_NEAR(rig.wheel.velocity.x, 2, 1e-9);
  TireRig rest(skid(), params_of(skid()));
  rest.wheel.slope_force = {-300, 100};
  rest.run(1);
  EXPECT_EQ(rest.distance, 0);
  EXPECT_EQ(rest.wheel.spin, 0);
}

TEST(SkidTire, BrakesLockAndStop) {
  TireRig rig(skid(), params_of(skid(), {{"mu", 0.5}}));
  rig.roll_at(3);
  rig.wheel.brake = 1e4;
  rig.run(2);
  EXPECT_NEAR(rig.wheel.velocity.x, 0, 1e-9);
  EXPECT_EQ(rig.wheel.spin, 0);
  EXPECT_NEAR(rig.distance, 9 / (2 * 0.5 * 9.81), 0.01);  // v^2 / (2 mu g)
}

TEST(SkidTire, WithoutFrictionNothingPushes) {
  TireInput in = wheel();
  in.velocity = {1, 1};
  in.torque = 3;
  in.slope_force = {5, 5};
  const auto p = params_of(skid(), {{"mu", 0}});
  const TireOutput out = skid().step(p.data(), in);
  EXPECT_EQ(out.force.x, 0);
  EXPECT_EQ(out.force.y, 0);
}

}  // namespace
}  // namespace mvsim::skid_tire_test
