// The models with a rolling constraint against closed forms of coasting, limits, momentum and brakes.
#include "tire/rolling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "tire/tire_rig.h"

namespace mvsim::rolling_test {
namespace {

using namespace test;

constexpr double kGravity = 9.81, kDt = 0.005;

TireInput wheel_of(double mass, double torque = 0) {
  TireInput in;
  in.dt = kDt;
  in.torque = torque;
  in.mass = mass;
  in.load = mass * kGravity;
  in.radius = 0.2;
  in.inertia = 0.08;
  return in;
}

// A mass on one wheel.
struct Cart {
  TireInput in;
  void step(const TireModel& model, const std::vector<double>& p) {
    const TireOutput out = model.step(p.data(), in);
    in.spin = out.spin;
    in.velocity = in.velocity + (in.dt / in.mass) * out.force;
  }
};

std::vector<const TireModel*> rolling_models() {
  return {&default_tire(), &wardiagnemma_tire(), &ellipse_tire()};
}

TEST(WardIagnemmaTire, DragAtOneMeterPerSecond) {
  const auto p = params_of(wardiagnemma_tire(), {{"C_damping", 0}});
  for (const double speed : {1.0, 0.0, -1.0}) {
    TireInput in = wheel_of(11.5);
    in.velocity.x = speed;
    in.spin = speed / in.radius;
    const TireOutput out = wardiagnemma_tire().step(p.data(), in);
    EXPECT_NEAR(out.force.x, -3.10241 * speed, 5e-6);
    EXPECT_NEAR(out.spin, in.spin, 1e-12) << "the drag acts on the chassis alone";
    double values[5];
    wardiagnemma_tire().log_values(p.data(), in, out, values);
    EXPECT_NEAR(values[0], -3.10241 * speed, 5e-6);
  }
}

TEST(WardIagnemmaTire, CoastingLosesSpeed) {
  const auto p = params_of(wardiagnemma_tire(), {{"C_damping", 0}});
  Cart cart{wheel_of(11.5)};
  cart.in.velocity.x = 1;
  cart.in.spin = 5;
  // reference: m dv/dt = -N (R1 (1 - exp(-50 v)) + R2 v), the wheel's inertia unfelt but for the lag
  double v = 1;
  for (int i = 0; i < 1000; ++i) {
    cart.step(wardiagnemma_tire(), p);
    for (int k = 0; k < 10; ++k)
      v -= kDt / 10 * kGravity * (0.0075 * (1 - std::exp(-50 * v)) + 0.02 * v) / (1 + 0.08 / 0.04 / 11.5);
  }
  EXPECT_LT(cart.in.velocity.x, 0.5);
  EXPECT_NEAR(cart.in.velocity.x, v, 0.01);
}

TEST(DefaultTire, CoastingWithoutLossesKeepsSpeed) {
  const auto p = params_of(default_tire(), {{"C_damping", 0}});
  Cart cart{wheel_of(11.5)};
  cart.in.velocity.x = 1;
  cart.in.spin = 5;
  for (int i = 0; i < 1000; ++i) cart.step(default_tire(), p);
  EXPECT_NEAR(cart.in.velocity.x, 1, 1e-12);
}

TEST(DefaultTire, CoastingWithBearingDamping) {
  const auto p = params_of(default_tire(), {{"C_damping", 0.1}});
  Cart cart{wheel_of(11.5)};
  cart.in.velocity.x = 1;
  cart.in.spin = 5;
  for (int i = 0; i < 1000; ++i) cart.step(default_tire(), p);
  EXPECT_NEAR(cart.in.velocity.x, 0.396, 0.005);
}

TEST(EllipseTire, Limits) {
  const auto p = params_of(ellipse_tire(), {{"C_damping", 0}});
  const auto force = [&](Vec2 velocity, double spin, double torque) {
    TireInput in = wheel_of(3.5, torque);
    in.velocity = velocity;
    in.spin = spin;
    const Vec2 f = ellipse_tire().step(p.data(), in).force;
    return Vec2{std::fabs(f.x), std::fabs(f.y)};
  };
  EXPECT_NEAR(force({}, 0, 1e3).x, 25.751, 1e-3);
  EXPECT_NEAR(force({1, 1}, 5, 0).y, 29.185, 1e-3);
  EXPECT_NEAR(force({1, 1}, 50, 1e3).x, 18.209, 1e-3);
  EXPECT_NEAR(force({1, 1}, 50, 1e3).y, 20.637, 1e-3);
  EXPECT_EQ(force({1, 0}, 5, 0).y, 0) << "no slip angle, no side force";
}

TEST(EllipseTire, LateralForceOpposesSliding) {
  const auto p = params_of(ellipse_tire(), {});
  RandomStream random(5, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 10000; ++i) {
    TireInput in = wheel_of(3.5, random.uniform(-5, 5));
    in.velocity = {random.uniform(-2, 2), random.uniform(-2, 2)};
    in.spin = random.uniform(-15, 15);
    EXPECT_LE(ellipse_tire().step(p.data(), in).force.y * in.velocity.y, 0);
  }
}

// Momentum given to a wheel that starts at rest: (m v + 0) -> (m + I/R2) v.
TEST(RollingTires, SpinningUpTakesMomentum) {
  for (const TireModel* model : rolling_models()) {
    const auto p = params_of(*model, {{"C_damping", 0}, {"R1", 0}, {"R2", 0}});
    Cart cart{wheel_of(9.5)};
    cart.in.inertia = 0.04;
    cart.in.velocity.x = 1;
    for (int i = 0; i < 2000; ++i) {
      cart.step(*model, p);
      EXPECT_LE(cart.in.velocity.x, 1) << model->name();
    }
    // ellipse stops gripping just before pure rolling
    EXPECT_NEAR(cart.in.velocity.x, 9.5 / 10.5, model->name() == "ellipse" ? 2e-3 : 1e-9) << model->name();
  }
}

TEST(RollingTires, TheGroundOverridesTheTire) {
  for (const TireModel* model : {&default_tire(), &wardiagnemma_tire()}) {
    const auto p = params_of(*model, {{"C_damping", 0}});
    TireInput in = wheel_of(11.5, 1e3);
    in.ground.mu = 0.1;
    EXPECT_NEAR(model->step(p.data(), in).force.x, 0.1 * in.load, 1e-9);
    in.ground.mu = 0;
    EXPECT_EQ(model->step(p.data(), in).force.x, 0);
  }
  for (const TireModel* model : rolling_models()) {
    const auto p = params_of(*model, {{"C_damping", 0}, {"C_rr", 0.2}, {"R1", 0}, {"R2", 0}});
    TireInput in = wheel_of(11.5);
    in.velocity = {2, 0};
    in.spin = 9.5;
    in.ground.c_rr = 0;
    const double without = model->step(p.data(), in).force.x;
    in.ground.c_rr = 0.01;
    EXPECT_NEAR(model->step(p.data(), in).force.x - without, -0.01 * in.load, 1e-9) << model->name();
  }
}

TEST(RollingTires, ABrakeStopsAndStays) {
  for (const TireModel* model : rolling_models())
    for (const double brake : {1.0, 5.0, 20.0, 1000.0})
      for (const double direction : {1.0, -1.0}) {
        const auto p = params_of(*model, {});
        Cart cart{wheel_of(11.5)};
        cart.in.velocity.x = direction;
        cart.in.spin = 5 * direction;
        cart.in.brake = brake;
        for (int i = 0; i < 2000; ++i) {
          cart.step(*model, p);
          EXPECT_GE(direction * cart.in.velocity.x, -1e-12) << model->name() << " " << brake;
          EXPECT_GE(direction * cart.in.spin, -1e-12) << model->name() << " " << brake;
        }
        if (model->name() == "ellipse") continue;  // grips only while it slips
        EXPECT_NEAR(cart.in.velocity.x, 0, 1e-9) << model->name() << " " << brake;
        EXPECT_NEAR(cart.in.spin, 0, 1e-9);
      }
}

TEST(RollingTires, ABrakeDeceleratesByItsTorque) {
  for (const TireModel* model : {&default_tire(), &wardiagnemma_tire()}) {
    const auto p = params_of(*model, {{"C_damping", 0}, {"R1", 0}, {"R2", 0}});
    Cart cart{wheel_of(11.5)};
    cart.in.velocity.x = 2;
    cart.in.spin = 10;
    cart.in.brake = 4;
    for (int i = 0; i < 100; ++i) cart.step(*model, p);
    // (m + I/R2) dv/dt = -brake / R
    EXPECT_NEAR(cart.in.velocity.x, 2 - 0.5 * 4 / 0.2 / (11.5 + 0.08 / 0.04), 5e-3);
    cart.in.brake = 1000;  // locked: friction alone
    const double before = cart.in.velocity.x;
    for (int i = 0; i < 10; ++i) cart.step(*model, p);
    EXPECT_NEAR(cart.in.velocity.x, before - 0.05 * 0.8 * kGravity, 1e-9);
    EXPECT_EQ(cart.in.spin, 0);
  }
}

TEST(RollingTires, ABrakeHoldsAgainstAWeakerMotor) {
  for (const TireModel* model : rolling_models()) {
    const auto p = params_of(*model, {{"R1", 0}, {"R2", 0}});
    Cart cart{wheel_of(11.5, 5)};
    cart.in.brake = 6;
    for (int i = 0; i < 100; ++i) cart.step(*model, p);
    EXPECT_EQ(cart.in.velocity.x, 0);
    EXPECT_EQ(cart.in.spin, 0);
    cart.in.brake = 4;
    for (int i = 0; i < 100; ++i) cart.step(*model, p);
    EXPECT_NEAR(cart.in.velocity.x, 0.5 * (1 / 0.2) / (11.5 + 0.08 / 0.04), 0.02) << model->name();
  }
}

}  // namespace
}  // namespace mvsim::rolling_test
