#include "vehicle/wheel.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace mvsim::load_transfer_test {
namespace {

constexpr double kGravity = 9.81, kWheelbase = 2.6, kTrack = 1.5;

std::vector<WheelModel> at(std::initializer_list<Vec2> positions, double mass = 20) {
  std::vector<WheelModel> wheels;
  for (const Vec2 p : positions) {
    wheels.emplace_back();
    wheels.back().position = p;
    wheels.back().mass = mass;
  }
  return wheels;
}

// Rear left, rear right, front left, front right; the origin between the rear wheels.
const std::vector<WheelModel> kCar =
    at({{0, kTrack / 2}, {0, -kTrack / 2}, {kWheelbase, kTrack / 2}, {kWheelbase, -kTrack / 2}});

std::vector<double> loads(const std::vector<WheelModel>& wheels, const LoadBalance& balance) {
  std::vector<WheelState> states(wheels.size());
  balance_loads(WheelStance(wheels), balance, wheels, states);
  std::vector<double> out;
  for (const WheelState& s : states) out.push_back(s.load);
  return out;
}

TEST(LoadTransfer, AtRestFollowsTheCentreOfMass) {
  // wheels without mass: the axle loads of a beam
  const std::vector<WheelModel> light =
      at({{0, kTrack / 2}, {0, -kTrack / 2}, {kWheelbase, kTrack / 2}, {kWheelbase, -kTrack / 2}}, 0);
  const std::vector<double> n =
      loads(light, {.chassis_weight = 10000, .gravity = kGravity, .center = {1, 0}});
  EXPECT_NEAR(n[2] + n[3], 10000 * 1 / kWheelbase, 1e-9);
  EXPECT_NEAR(n[0] + n[1], 10000 * (1 - 1 / kWheelbase), 1e-9);
  EXPECT_NEAR(n[0], n[1], 1e-9);
}

TEST(LoadTransfer, IsTheTextbookFormulaOnFourWheels) {
  const double mass = 1000, chassis = mass - 80, height = 0.6, ax = 3, ay = -2;
  const LoadBalance rest{
      .chassis_weight = chassis * kGravity, .gravity = kGravity, .center = {kWheelbase / 2, 0}};
  LoadBalance moving = rest;
  moving.moment = {mass * ax * height, mass * ay * height};
  const std::vector<double> before = loads(kCar, rest), after = loads(kCar, moving);
  const double along = mass * ax * height / kWheelbase / 2;  // N from each front to each rear wheel
  const double across = mass * ay * height / kTrack / 2;     // from each left to each right wheel
  EXPECT_NEAR(after[0] - before[0], along - across, 1e-9);
  EXPECT_NEAR(after[1] - before[1], along + across, 1e-9);
  EXPECT_NEAR(after[2] - before[2], -along - across, 1e-9);
  EXPECT_NEAR(after[3] - before[3], -along + across, 1e-9);
}

TEST(LoadTransfer, WheelsInALineCarryNoMomentAcrossIt) {
  const std::vector<double> n =
      loads(at({{0, 0.3}, {0, -0.3}}),
            {.chassis_weight = 100, .gravity = kGravity, .center = {0.05, 0}, .moment = {30, 3}});
  EXPECT_NEAR(n[0], 50 - 3 / 0.6, 1e-9);
  EXPECT_NEAR(n[1], 50 + 3 / 0.6, 1e-9);
  // the same line, turned
  const double c = 0.6, s = 0.8;
  const std::vector<double> turned =
      loads(at({{0.3 * c, 0.3 * s}, {-0.3 * c, -0.3 * s}}),
            {.chassis_weight = 100, .gravity = kGravity, .moment = {3 * c - 30 * s, 3 * s + 30 * c}});
  EXPECT_NEAR(turned[0], 50 - 3 / 0.6, 1e-9);
  EXPECT_EQ(loads(at({{1, 1}}), {.chassis_weight = 7, .moment = {5, 5}})[0], 7);
}

TEST(LoadTransfer, NeverPullsAndAlwaysSumsToTheWeight) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 5000; ++i) {
    std::vector<WheelModel> wheels(1 + static_cast<size_t>(random.uniform(0, 6)));
    for (WheelModel& w : wheels) {
      w.position = {random.uniform(-2, 2), random.uniform(-1, 1)};
      w.mass = random.uniform(0, 30);
    }
    const double weight = random.uniform(0, 1e4);
    const std::vector<double> n =
        loads(wheels, {.chassis_weight = weight,
                       .gravity = kGravity,
                       .center = {random.uniform(-1, 1), random.uniform(-1, 1)},
                       .moment = {random.uniform(-2e4, 2e4), random.uniform(-2e4, 2e4)}});
    double sum = 0;
    for (const double load : n) {
      EXPECT_GE(load, 0);
      sum += load;
    }
    EXPECT_NEAR(sum, weight, 1e-9 * (1 + weight));
  }
}

}  // namespace
}  // namespace mvsim::load_transfer_test
