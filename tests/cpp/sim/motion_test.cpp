// Motion in free space against the acceptance facts of the physics notes (section 4.15), which have closed
// forms.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test {
namespace {

TEST(Motion, PhysicsFact28RunEndsWithAShorterStep) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  sim.run(0.012);
  EXPECT_EQ(sim.step_count(), 3u);
  EXPECT_NEAR(sim.time(), 0.012, 1e-12);
}

TEST(Motion, PhysicsFact30IdealTwistIsExactAndLagsOneStep) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  sim.set_twist(0, 1, 1);
  sim.step();
  EXPECT_NEAR(sim.vehicle_twist(0).vx, 1, 1e-6);
  EXPECT_NEAR(sim.vehicle_twist(0).vy, 0, 1e-6);
  EXPECT_EQ(sim.vehicle_pose(0).x, 0);
  sim.run(1);
  const double turned = 1.0;
  EXPECT_NEAR(sim.vehicle_pose(0).yaw, turned, 1e-3);
  EXPECT_NEAR(sim.vehicle_pose(0).x, std::sin(turned), 4e-3);
  EXPECT_NEAR(sim.vehicle_pose(0).y, 1 - std::cos(turned), 4e-3);
}

TEST(Motion, PhysicsFact31WheelsTakeTheirShareOfTheMomentum) {
  // 15 + 2 * 2 kg, I 0.04, R 0.2: the wheels add 2 I / R^2 = 2 kg
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                          bot("r", "", "<init_pose>0 0 90</init_pose><init_vel>1 0 0</init_vel>")),
                 0);
  sim.run(3);
  EXPECT_NEAR(sim.vehicle_twist(0).vx, 19.0 / 21.0, 2e-3);
  EXPECT_GT(sim.vehicle_pose(0).y, 2.5);  // body frame: the initial velocity points along world y
  EXPECT_NEAR(sim.vehicle_pose(0).x, 0, 1e-3);
}

TEST(Motion, PhysicsFact32EllipseNeverExceedsItsStart) {
  std::string thrown = bot("r", "", "<init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel>");
  const std::string tire = R"(class="default"><mu>0.8</mu>)";
  thrown.replace(thrown.find(tire), tire.size(), R"(class="ellipse">)");
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + thrown), 0);
  for (int i = 0; i < 600; ++i) {
    sim.step();
    ASSERT_LT(sim.vehicle_twist(0).vx, 1) << "step " << i;
  }
  EXPECT_NEAR(sim.vehicle_twist(0).vx, 19.0 / 21.0, 5e-3);
}

TEST(Motion, AVehicleWithoutControllerRests) {
  Simulation sim(model_of(bot("r", "", kOrigin)), 0);
  sim.run(2);
  EXPECT_EQ(sim.vehicle_pose(0).x, 0);
  EXPECT_EQ(sim.vehicle_pose(0).yaw, 0);
}

TEST(Motion, TwistPidReachesItsSetpointAndStops) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kPid, kOrigin)), 0);
  sim.set_twist(0, 0.7, 0.4);
  sim.run(4);
  EXPECT_NEAR(sim.vehicle_twist(0).vx, 0.7, 0.01);
  EXPECT_NEAR(sim.vehicle_twist(0).omega, 0.4, 0.01);
  double lowest = 1;
  sim.set_twist(0, 0, 0);
  for (int i = 0; i < 600; ++i) {
    sim.step();
    lowest = std::min(lowest, sim.vehicle_odometry_twist(0).vx);
  }
  EXPECT_GT(lowest, -1e-3);  // braking never reverses
  EXPECT_NEAR(sim.vehicle_twist(0).vx, 0, 0.051);
}

TEST(Motion, RawTorqueIsNegativeForward) {
  Simulation sim(model_of(bot("r", R"(<controller class="raw"/>)", kOrigin)), 0);
  const double command[] = {-1, -1};
  sim.set_command(0, command);
  sim.run(1);
  EXPECT_GT(sim.vehicle_pose(0).x, 0.1);
  EXPECT_GT(sim.wheels(0)[0].torque, 0);
  EXPECT_THROW(sim.set_twist(0, 1, 0), Error);
  const double nan[] = {NAN, 0};
  EXPECT_THROW(sim.set_command(0, nan), Error);
}

TEST(Motion, OdometryFollowsThePoseUpToItsMultipliers) {
  Simulation sim(
      model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, "<init_pose>3 -2 40</init_pose>")),
      0);
  sim.set_twist(0, 0.5, 0.3);
  sim.run(2);
  const Pose2 odometry = sim.vehicle(0).odometry;
  const Pose2 world = compose({3, -2, 40 * kDegree}, odometry);
  EXPECT_NEAR(world.x, sim.vehicle_pose(0).x, 1e-5);
  EXPECT_NEAR(world.y, sim.vehicle_pose(0).y, 1e-5);
  EXPECT_NEAR(odometry.yaw, 0.6, 5e-3);
}

TEST(Motion, UnsetOdometryMultipliersAreDrawnPerEpisode) {
  std::string open = bot("r", kIdeal, kOrigin);
  const auto at = open.find("<odometry");
  open.erase(at, open.find("/>", at) + 2 - at);
  const auto model = model_of(open);
  Simulation sim(model, 1);
  const double first = sim.param(model->vehicles[0].body_params + kOdometryX);
  sim.reset(1, 1);
  const double second = sim.param(model->vehicles[0].body_params + kOdometryX);
  EXPECT_NE(first, second);
  EXPECT_NEAR(first, 1, 0.1);
  sim.reset(1, 0);
  EXPECT_EQ(sim.param(model->vehicles[0].body_params + kOdometryX), first);
}

TEST(Motion, PlacedVehicleStartsAtRestThere) {
  Simulation sim(model_of(bot("r", kIdeal, "<init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel>")), 0);
  sim.run(0.1);
  sim.place_vehicle(0, {5, 6, 1});
  EXPECT_NEAR(sim.vehicle_pose(0).x, 5, 1e-6);
  EXPECT_EQ(sim.vehicle_twist(0).vx, 0);
}

}  // namespace
}  // namespace mvsim::test
