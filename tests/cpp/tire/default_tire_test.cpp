// Friction model `default` against its closed forms: chassis 15 kg on 2 wheels of 4 kg, diameter 0.4 m.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tire/tire_rig.h"

namespace mvsim::default_tire_test {
namespace {

using namespace test;

constexpr double kGravity = 9.81, kMass = 11.5, kDt = 0.005;

TireInput at_rest(double torque) {
  TireInput in;
  in.dt = kDt;
  in.torque = torque;
  in.mass = kMass;
  in.load = kMass * kGravity;
  in.radius = 0.2;
  in.inertia = 0.08;
  return in;
}

TireOutput step(const TireInput& in, double mu = 0.8, double c_damping = 0, double c_rr = 0) {
  const double p[] = {mu, c_damping, c_rr};
  return default_tire().step(p, in);
}

TEST(DefaultTire, UnsaturatedTorqueGoesIntoTheForce) {
  const TireOutput out = step(at_rest(5));
  EXPECT_NEAR(out.force.x, 25, 1e-12);
  EXPECT_NEAR(out.spin, 0, 1e-15);
}

TEST(DefaultTire, SaturatedTorqueSpinsTheWheel) {
  const TireOutput out = step(at_rest(30));
  EXPECT_NEAR(out.force.x, 90.252, 1e-9);
  EXPECT_NEAR(out.spin / kDt, 149.37, 1e-9);
  EXPECT_NEAR(out.spin, 0.74685, 1e-9);
}

TEST(DefaultTire, LateralForceStopsSlidingWithinFriction) {
  TireInput in = at_rest(0);
  in.velocity.y = 0.1;
  EXPECT_NEAR(step(in).force.y, -90.252, 1e-9);
  in.velocity.y = 0.01;
  EXPECT_NEAR(step(in).force.y, -23.0, 1e-9);
}

TEST(DefaultTire, UnsaturatedStepRollsAtTheSpeedBefore) {
  TireInput in = at_rest(2);
  in.velocity.x = 1.3;
  in.spin = 6.4;
  EXPECT_NEAR(step(in).spin, 1.3 / 0.2, 1e-12);
}

TEST(DefaultTire, RollingResistanceTorque) {
  TireInput in = at_rest(0);
  in.spin = 10;
  in.velocity.x = 2;
  // pure rolling: all of the resisting torque goes into the force
  EXPECT_NEAR(step(in, 0.8, 0, 0.01).force.x * in.radius, -0.22563, 1e-9);
  in.spin = 0;
  in.velocity.x = 0;
  EXPECT_EQ(step(in, 0.8, 0, 0.01).force.x, 0);
}

TEST(DefaultTire, SlopeForceIsHeldUpToTheLimit) {
  TireInput in = at_rest(0);
  in.slope_force = {-50, 20};
  EXPECT_NEAR(step(in).force.x, 50, 1e-12);
  EXPECT_NEAR(step(in).force.y, -20, 1e-12);
  in.slope_force = {-200, 0};
  EXPECT_NEAR(step(in).force.x, 90.252, 1e-9);
}

TEST(DefaultTire, ForceStaysWithinItsLimitAndMirrors) {
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 10000; ++i) {
    TireInput in = at_rest(random.uniform(-60, 60));
    in.velocity = {random.uniform(-3, 3), random.uniform(-3, 3)};
    in.spin = random.uniform(-20, 20);
    const double mu = random.uniform(0, 1.2);
    const TireOutput out = step(in, mu, 0.1, 0.02);
    EXPECT_LE(std::fabs(out.force.x), mu * in.load * (1 + 1e-12));
    EXPECT_LE(std::fabs(out.force.y), mu * in.load * (1 + 1e-12));
    TireInput mirrored = in;
    mirrored.velocity.y = -in.velocity.y;
    EXPECT_EQ(step(mirrored, mu, 0.1, 0.02).force.y, -out.force.y);
    EXPECT_EQ(step(mirrored, mu, 0.1, 0.02).force.x, out.force.x);
  }
}

TEST(DefaultTire, NoLoadNoForce) {
  TireInput in = at_rest(5);
  in.load = 0;
  in.velocity = {1, 1};
  EXPECT_EQ(step(in).force.x, 0);
  EXPECT_EQ(step(in).force.y, 0);
}

TEST(TireRegistry, NamesAreUniqueAndParametersHaveRanges) {
  for (const TireModel* model : tire_models()) {
    EXPECT_FALSE(model->name().empty());
    for (const TireModel* other : tire_models()) EXPECT_EQ(model == other, model->name() == other->name());
    for (const ParamInfo& info : model->params()) EXPECT_LE(info.min, info.fallback) << info.name;
  }
}

}  // namespace
}  // namespace mvsim::default_tire_test
