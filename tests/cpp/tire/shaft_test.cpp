// Two wheels on one shaft: one body with the sum of their inertias, under every tire model.
#include "tire/shaft.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tire/tire_rig.h"

namespace mvsim::shaft_test {
namespace {

using namespace test;

TireInput wheel(RandomStream& random) {
  TireInput in;
  in.dt = 0.001 * std::pow(10, random.uniform(0, 1));
  in.torque = random.uniform(-10, 10);
  in.mass = random.uniform(2, 20);
  in.effective_mass = in.mass * random.uniform(0.3, 1);
  in.load = in.mass * 9.81;
  in.velocity = {random.uniform(-2, 2), random.uniform(-1, 1)};
  in.radius = 0.1;
  in.width = 0.04;
  in.inertia = random.uniform(0.002, 0.01);
  return in;
}

struct Side {
  TireInput rear, front;
};

// Both have one speed along the robot and one spin, as the wheels of a side have.
Side side(RandomStream& random) {
  Side out{wheel(random), wheel(random)};
  out.rear.spin = (out.rear.velocity.x + random.uniform(-0.5, 0.5)) / out.rear.radius;
  out.front.dt = out.rear.dt;
  out.front.velocity.x = out.rear.velocity.x;
  out.front.spin = out.rear.spin;
  return out;
}

TEST(Shaft, WheelsOfAnyModelHaveOneSpin) {
  for (const TireModel* tire : tire_models()) {
    RandomStream random(1, 0, StreamPurpose::kSpawn);
    const auto p = params_of(*tire);
    for (int i = 0; i < 2000; ++i) {
      Side given = side(random);
      if (i % 3 == 0) given.rear.brake = given.front.brake = random.uniform(0, 5);
      const double guess = i % 2 ? random.uniform(-100, 100) : 0;
      if (i % 5 == 0 && tire->name() == "skid") given.front.velocity.x += 0.01;
      const ShaftStep out = step_on_shaft(*tire, p.data(), given.rear, given.front, guess, -guess);
      ASSERT_EQ(out.rear.spin, out.front.spin);
      given.rear.torque += out.passed;
      given.front.torque -= out.passed;
      const TireOutput rear = tire->step(p.data(), given.rear), front = tire->step(p.data(), given.front);
      ASSERT_NEAR(rear.spin, front.spin, 0.0101) << tire->name() << ' ' << i;
      ASSERT_NEAR(rear.force.y, out.rear.force.y, 1e-3 * given.rear.load) << tire->name() << ' ' << i;
    }
  }
}

TEST(Shaft, TheSumOfTheInertiasTurnsUnderTheSumOfTheMoments) {
  RandomStream random(2, 0, StreamPurpose::kSpawn);
  const TireModel& tire = tire_named("skid");
  const auto p = params_of(tire, {{"mu", 0.7}, {"C_damping", 0}});
  for (int i = 0; i < 2000; ++i) {
    const auto [rear, front] = side(random);
    const ShaftStep out = step_on_shaft(tire, p.data(), rear, front, 0, 0);
    const double moment = rear.torque + front.torque - rear.radius * (out.rear.force.x + out.front.force.x);
    const double gained = (rear.inertia + front.inertia) * (out.rear.spin - rear.spin);
    ASSERT_NEAR(gained, moment * rear.dt, 1e-9) << i;
  }
}

// Without a difference there is nothing to pass.
TEST(Shaft, EqualWheelsStepAsIfAlone) {
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  for (const TireModel* tire : tire_models()) {
    for (int i = 0; i < 400; ++i) {
      const auto p = params_of(*tire, {{"C_rr", i % 2 ? 0.1 : 0.0}});
      TireInput one = side(random).rear;
      if (i % 3 == 0) one.torque = 0;
      if (i % 5 == 0) one.spin = random.uniform(-0.1, 0.1);
      const ShaftStep out = step_on_shaft(*tire, p.data(), one, one, 0, 0);
      const TireOutput alone = tire->step(p.data(), one);
      ASSERT_NEAR(out.rear.spin, alone.spin, 1e-9);
      ASSERT_NEAR(out.rear.force.x, alone.force.x, 1e-6);
      ASSERT_NEAR(out.front.force.y, alone.force.y, 1e-6);
      ASSERT_NEAR(out.passed, 0, 1e-6);
    }
  }
}

// Wheels that slip alike push in proportion to their loads.
TEST(Shaft, TheShaftPassesTorqueToTheLoadedWheel) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  const TireModel& tire = tire_named("skid");
  const auto p = params_of(tire, {{"mu", 0.7}, {"C_damping", 0}});
  Side given = side(random);
  given.rear.load = 90, given.front.load = 30;
  given.rear.velocity = given.front.velocity = {1, 0.3};
  given.rear.torque = given.front.torque = 8;
  given.rear.spin = given.front.spin = 14;
  const ShaftStep out = step_on_shaft(tire, p.data(), given.rear, given.front, 0, 0);
  EXPECT_NEAR(out.rear.force.x / out.front.force.x, 3, 0.03);
  EXPECT_GT(out.passed, 0);
}

}  // namespace
}  // namespace mvsim::shaft_test
