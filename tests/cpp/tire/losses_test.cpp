// Losses of wheels that are light for their bearings, or roll on soft ground: they slow, they stop, and they
// turn nothing round.
#include <gtest/gtest.h>

#include <cmath>

#include "tire/rolling.h"
#include "tire/tire_rig.h"

namespace mvsim::losses_test {
namespace {

using namespace test;

// A wheel of an e-puck: 41 mm, 10 g, with half of a chassis of 130 g. C_damping dt is 24 times its inertia.
TireRig small_wheel(const TireModel& model) {
  TireRig rig(model, params_of(model));
  rig.wheel.mass = rig.wheel.effective_mass = 0.075;
  rig.wheel.load = 0.075 * 9.81;
  rig.wheel.radius = 0.0205;
  rig.wheel.inertia = 0.01 * 0.041 * 0.041 / 8;
  return rig;
}

class RollingTire : public testing::TestWithParam<const TireModel*> {};
INSTANTIATE_TEST_SUITE_P(All, RollingTire,
                         testing::Values(&default_tire(), &wardiagnemma_tire(), &ellipse_tire()),
                         [](const auto& info) { return std::string(info.param->name()); });

TEST_P(RollingTire, StrongBearingsSlowALightWheelWithoutTurningItRound) {
  TireRig rig = small_wheel(*GetParam());
  rig.roll_at(0.1);
  for (int i = 0; i < 400; ++i) {
    const double before = rig.wheel.velocity.x;
    rig.step();
    ASSERT_LE(rig.wheel.velocity.x, before + 1e-12) << i;
    ASSERT_GE(rig.wheel.velocity.x, -1e-9) << i;
    ASSERT_GE(rig.wheel.spin, -1e-9) << i;
  }
}

// Pulled at a constant speed faster than its tire can turn it: R F = C w once it is steady, with F the limit.
// (At longer steps what the bearings take is bounded by what stops the mass that the wheel carries.)
TEST(DefaultTire, APulledWheelSlipsWhereItsBearingsAreStrongerThanItsGrip) {
  for (const double dt : {0.001, 0.005}) {
    TireRig rig = small_wheel(default_tire());
    rig.wheel.dt = dt;
    rig.wheel.velocity.x = 0.1;
    for (int i = 0; i < 1000; ++i) rig.wheel.spin = rig.model.step(rig.params.data(), rig.wheel).spin;
    EXPECT_NEAR(rig.wheel.spin, 0.8 * rig.wheel.load * rig.wheel.radius / 0.01, 1e-9) << dt;
  }
}

// The steady speed under a torque does not depend on how the damping is integrated: tau = C w.
TEST_P(RollingTire, StrongBearingsBalanceATorqueAtTheSpeedOfPhysics) {
  if (GetParam() != &default_tire()) return;
  TireRig rig = small_wheel(*GetParam());
  rig.wheel.torque = 0.004;
  rig.run(5);
  EXPECT_NEAR(rig.wheel.spin, 0.4, 1e-9);
  EXPECT_NEAR(rig.wheel.velocity.x, 0.4 * rig.wheel.radius, 1e-9);
}

TEST(DefaultTire, WeakBearingsAreThoseOfThePhysicsToTheBit) {
  const auto p = params_of(default_tire(), {{"C_damping", 0.1}});
  TireRig rig(default_tire(), p);
  rig.roll_at(2);
  rig.wheel.torque = 3;
  const TireInput& in = rig.wheel;
  for (int i = 0; i < 100; ++i) {
    const double torque = in.torque - 0.1 * in.spin;
    const double force = (torque - in.inertia * ((in.velocity.x / in.radius - in.spin) / in.dt)) / in.radius;
    const double spin = in.spin + (torque - in.radius * force) / in.inertia * in.dt;
    rig.step();
    ASSERT_EQ(rig.last.force.x, force);
    ASSERT_EQ(rig.last.spin, spin);
  }
}

TEST_P(RollingTire, RollingResistanceStops) {
  for (const double dt : {0.001, 0.005, 0.02}) {
    TireRig rig(*GetParam(), params_of(*GetParam(), {{"C_rr", 0.1}, {"C_damping", 0}}), dt);
    rig.roll_at(1);
    double slowest = 1;
    for (int i = 0; i < 5 / dt; ++i) {
      rig.step();
      slowest = std::min(slowest, rig.wheel.velocity.x);
    }
    EXPECT_LT(std::fabs(rig.wheel.velocity.x), 1e-4) << dt;
    EXPECT_GT(slowest, -1e-4) << "it does not roll back, " << dt;
  }
}

// v^2 / (2 C_rr g), and what the wheel's rotation adds to the mass.
TEST(DefaultTire, RollingResistanceStopsWhereFrictionWould) {
  TireRig rig(default_tire(), params_of(default_tire(), {{"C_rr", 0.05}, {"C_damping", 0}}), 0.001);
  rig.roll_at(2);
  rig.run(10);
  const double heavier = 1 + rig.wheel.inertia / (rig.wheel.mass * rig.wheel.radius * rig.wheel.radius);
  EXPECT_NEAR(rig.distance, heavier * 4 / (2 * 0.05 * 9.81), 0.01);
}

// On ice: the resistance is more than the tire can turn against.
TEST(DefaultTire, RollingResistanceLocksAWheelThatHasNoGrip) {
  TireRig rig(default_tire(), params_of(default_tire(), {{"C_rr", 0.2}, {"mu", 0.02}, {"C_damping", 0}}));
  rig.roll_at(3);
  for (int i = 0; i < 400; ++i) {
    rig.step();
    ASSERT_GE(rig.wheel.spin, 0) << i;
  }
  // the speed that friction gives a wheel at rest in a step, and that the next step removes
  EXPECT_LT(rig.wheel.spin, 1.01 * 0.005 * 0.02 * rig.wheel.load * 0.33 / rig.wheel.inertia);
  EXPECT_GT(rig.wheel.velocity.x, 2);
}

}  // namespace
}  // namespace mvsim::losses_test
