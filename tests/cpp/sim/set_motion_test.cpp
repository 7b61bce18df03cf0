// Speeds that a caller gives: what is joined moves as one body, wheels roll, and what cannot move is refused.
#include "sim/place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/worlds.h"

namespace mvsim::test::set_motion_test {
namespace {

const std::string kRig =
    bot("truck", kIdeal, kOrigin) + bot("trailer", "", "<init_pose>-1.8 0 0</init_pose>") +
    R"(<joint type="revolute" body_a="truck" anchor_a="-0.6 0" body_b="trailer" anchor_b="1.2 0"/>)";

TEST(SetMotion, ATrailerMovesAsOneBodyWithItsTruck) {
  Simulation sim(model_of(kRig), 0);
  sim.set_vehicle_twist(0, {1, 0.25, 0.5});
  const Twist2 truck = vehicle_twist(sim, 0), trailer = vehicle_twist(sim, 1);
  EXPECT_NEAR(truck.vx, 1, 1e-6);
  EXPECT_NEAR(truck.vy, 0.25, 1e-6);
  EXPECT_NEAR(trailer.vx, 1, 1e-6);
  EXPECT_NEAR(trailer.vy, 0.25 - 1.8 * 0.5, 1e-6) << "1.8 m behind";
  EXPECT_NEAR(trailer.omega, 0.5, 1e-6);
  const auto [a, b] = joint_anchors(sim, 0);
  sim.step();
  const auto [a_after, b_after] = joint_anchors(sim, 0);
  EXPECT_LT(norm(a_after - b_after), 1e-3) << "nothing pulls at the hitch";
  EXPECT_GT(norm(a_after - a), 1e-3);
  EXPECT_LT(norm(a - b), 1e-6);
}

TEST(SetMotion, WheelsRollAndNoAccelerationComesOfIt) {
  Simulation sim(model_of(bot("r", kIdeal, "<init_pose>1 2 70</init_pose>")), 0);
  sim.set_vehicle_twist(0, {2, 0, 0.3});
  for (size_t i = 0; i < wheel_states(sim, 0).size(); ++i) EXPECT_NEAR(wheel_slip(sim, 0, i).ratio, 0, 1e-6);
  sim.set_twist(0, 2, 0.3);  // an ideal controller keeps it
  sim.step();
  const double centripetal = norm(vehicle_acceleration(sim, 0));
  EXPECT_NEAR(centripetal, 2 * 0.3, 0.05);
}

TEST(SetMotion, WhatCannotBeIsRefused) {
  Simulation sim(model_of(kRig + R"(<block name="post"><static>true</static><init_pose>5 0 0</init_pose>
    <shape><pt>-.1 -.1</pt><pt>-.1 .1</pt><pt>.1 .1</pt><pt>.1 -.1</pt></shape></block>)"),
                 0);
  EXPECT_THROW(sim.set_block_twist(0, {1, 0, 0}), Error);
  EXPECT_THROW(sim.place_block(0, {0, 0, 0}), Error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check_pose(sim.model(), {nan, 0, 0}, "pose"), Error);
  EXPECT_THROW(check_pose(sim.model(), {0, 2e6, 0}, "pose"), Error);
  EXPECT_THROW(check_twist({0, 0, nan}, "twist"), Error);
  EXPECT_NO_THROW(check_pose(sim.model(), {9e5, 0, -3}, "pose"));
}

}  // namespace
}  // namespace mvsim::test::set_motion_test
