#include "sensor/sensor.h"

#include <gtest/gtest.h>

#include "sim/worlds.h"

namespace mvsim::test::odometry_test {
namespace {

TEST(Odometry, IsReadWithoutBeingListedAsASensor) {
  Simulation sim(model_of(bot("r", kIdeal, kOrigin)), 0);
  EXPECT_TRUE(sim.model().sensors.empty());
  EXPECT_EQ(sim.model().reading_count, 0u);
  sim.set_twist(0, 0.5, 0.2);
  sim.run(1);
  EXPECT_GT(sim.state().vehicles.at(0).odometry.x, 0.4);
}

TEST(Odometry, ScalesTheWayOfEachStep) {
  // 2 m ahead of a vehicle that looks along y, and a quarter turn: multipliers of 0.5, 1 and 2
  const double k[] = {0.5, 1, 2};
  const Pose2 way = add_odometry({10, 0, kPi / 2}, k, {1, 1, kPi / 2}, Rotation2(kPi / 2), {1, 3, kPi});
  EXPECT_NEAR(way.x, 10, 1e-12);
  EXPECT_NEAR(way.y, 1, 1e-12);
  EXPECT_NEAR(way.yaw, 1.5 * kPi, 1e-12);
}

TEST(Odometry, FollowsThePoseUpToItsMultipliers) {
  Simulation sim(
      model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, "<init_pose>3 -2 40</init_pose>")),
      0);
  sim.set_twist(0, 0.5, 0.3);
  sim.run(2);
  const Pose2 odometry = sim.state().vehicles.at(0).odometry;
  const Pose2 world = compose({3, -2, 40 * kDegree}, odometry);
  EXPECT_NEAR(world.x, vehicle_pose(sim, 0).x, 1e-5);
  EXPECT_NEAR(world.y, vehicle_pose(sim, 0).y, 1e-5);
  EXPECT_NEAR(odometry.yaw, 0.6, 5e-3);
}

TEST(Odometry, UnsetMultipliersAreDrawnPerEpisode) {
  std::string open = bot("r", kIdeal, kOrigin);
  const auto at = open.find("<odometry");
  open.erase(at, open.find("/>", at) + 2 - at);
  const auto model = model_of(open);
  Simulation sim(model, 1);
  const double first = sim.state().params.at(model->vehicles[0].body_params + kOdometryX);
  sim.reset(1, 1);
  const double second = sim.state().params.at(model->vehicles[0].body_params + kOdometryX);
  EXPECT_NE(first, second);
  EXPECT_NEAR(first, 1, 0.1);
  sim.reset(1, 0);
  EXPECT_EQ(sim.state().params.at(model->vehicles[0].body_params + kOdometryX), first);
}

}  // namespace
}  // namespace mvsim::test::odometry_test
