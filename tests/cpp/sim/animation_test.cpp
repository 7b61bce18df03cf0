// Animations: keyframes of blocks, planes and vehicles, people on paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scene/scene.h"
#include "sim/measure.h"
#include "sim/place.h"
#include "sim/sense.h"
#include "sim/worlds.h"

namespace mvsim::test::animation_test {
namespace {

constexpr const char* kSquare =
    "<animation type='keyframes'><time_pose>0 0 0 0</time_pose>"
    "<time_pose>4 2 0 90</time_pose><time_pose>10 2 6 90</time_pose></animation>";

// Elements fact 16.
TEST(Animation, RepeatsAndIsRelativeToTheInitialPose) {
  Simulation sim(
      model_of("<block name='b'><init_pose>1 5 90</init_pose>" + std::string(kSquare) + "</block>"), 0);
  const auto expect = [&](double x, double y, double yaw) {
    const Pose3 pose = block_pose(sim, 0);
    EXPECT_NEAR(pose.x, x, 1e-5);
    EXPECT_NEAR(pose.y, y, 1e-5);
    EXPECT_NEAR(pose.yaw, yaw * kDegree, 1e-5);
  };
  expect(1, 5, 90);
  sim.run(2.005);  // the pose of a step is that of its beginning
  expect(1, 6, 135);
  sim.run(2);
  expect(1, 7, 180);
  sim.run(3);
  expect(1 - 3, 7, 180);
  sim.run(5);
  expect(1, 6, 135);
}

TEST(Animation, TurnsTheShortWayAboutAllAxes) {
  const std::vector<Keyframe> frames{{1, {.yaw = 170 * kDegree}}, {3, {.yaw = -170 * kDegree, .pitch = 0}}};
  EXPECT_NEAR(pose_at(frames, {}, 0).yaw, 0, 1e-12);  // before the first: as at the start
  EXPECT_NEAR(std::fabs(pose_at(frames, {}, 2).yaw), kPi, 1e-9);
  const std::vector<Keyframe> roll{{0, {}}, {2, {.z = 4, .roll = 90 * kDegree}}};
  EXPECT_NEAR(pose_at(roll, {}, 1).roll, 45 * kDegree, 1e-12);
  EXPECT_NEAR(pose_at(roll, {.z = 1}, 1.5).z, 4, 1e-12);
  EXPECT_NEAR(pose_at(roll, {.yaw = kPi / 2}, 1).yaw, kPi / 2, 1e-12);
}

TEST(Animation, ShiftsExactlyWithoutAngles) {
  const std::vector<Keyframe> frames{{1, {.x = 0.1, .y = 2, .z = -3}}, {3, {.x = 0.7, .y = 5, .z = 1}}};
  const Pose3 start{.x = 10, .y = -20, .z = 0.5}, pose = pose_at(frames, start, 2.5);
  EXPECT_EQ(pose.x, 10 + (0.25 * 0.1 + 0.75 * 0.7));
  EXPECT_EQ(pose.y, -20 + (0.25 * 2 + 0.75 * 5));
  EXPECT_EQ(pose.z, 0.5);
  EXPECT_EQ(pose.yaw, 0);
  EXPECT_EQ(pose_at(frames, start, 3.5).x, 10 + 0.7);  // that of the last frame
}

TEST(Animation, PushesAVehicleOutOfItsWay) {
  const std::string world =
      four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>") +
      "<block name='b'><init_pose>-4 0 0</init_pose><animation type='keyframes'><time_pose>0 0 0 "
      "0</time_pose>"
      "<time_pose>4 4 0 0</time_pose><time_pose>20 4 0 0</time_pose></animation></block>";
  Simulation sim(model_of(world), 0);
  sim.run(3.9);
  EXPECT_GT(vehicle_pose(sim, 0).x, 0.2);
  EXPECT_TRUE(sim.state().vehicles[0].contacts);
  EXPECT_NEAR(block_pose(sim, 0).x, -0.105, 0.01);
  double back = 1, front = -1;  // m, of the vehicle and of the block
  for (const Vec2 v : vehicle_outline(sim, 0)) back = std::min(back, v.x);
  for (const Vec2 v : block_outline(sim, 0)) front = std::max(front, v.x);
  EXPECT_GT(back, front - 0.01);
}

TEST(Animation, APlatformLiftsWhatStandsOnIt) {
  Simulation sim(
      model_of("<element class='horizontal_plane'><x_min>-3</x_min><x_max>3</x_max><y_min>-3</y_min>"
               "<y_max>3</y_max><animation type='keyframes'><time_pose3d>0 0 0 0 0 0 0</time_pose3d>"
               "<time_pose3d>10 0 0 5 0 0 0</time_pose3d></animation></element>" +
               four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>")),
      0);
  sim.run(4.005);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 2, 1e-6);
  std::vector<ScenePose> poses;
  scene_poses(sim, poses);
  EXPECT_NEAR(poses[sim.model().moving_planes[0].frame].T_world_frame.origin.z, 2.0025, 1e-9);
  EXPECT_TRUE(sim.model().terrain.planes.empty());
}

TEST(Animation, AVehicleIsPutWhereItsFramesSay) {
  Simulation sim(model_of(four_wheels(kIdeal, "<init_pose>1 0 0</init_pose>" + std::string(kSquare))), 0);
  sim.set_twist(0, 5, 0);
  sim.run(2.005);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 2, 0.03);
  EXPECT_NEAR(vehicle_pose(sim, 0).yaw, 45 * kDegree, 0.01);
}

TEST(Animation, SnapshotsGoOnAlike) {
  const std::string world =
      four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>") +
      "<block name='b'><init_pose>-4 0 0</init_pose><animation type='keyframes'>"
      "<time_pose>0 0 0 0</time_pose><time_pose>4 4 0 30</time_pose></animation></block>";
  Simulation a(model_of(world), 0);
  a.run(3);
  const std::string state = a.snapshot();
  Simulation b(model_of(world), 7);
  b.restore(state);
  a.run(3);
  b.run(3);
  EXPECT_EQ(a.snapshot(), b.snapshot());
}

ActorModel actor_of(const std::string& inside) {
  return model_of("<actor name='p'><init_pose>0 0 90</init_pose>" + inside + "</actor>")->actors.at(0);
}

// Elements fact 25.
TEST(Actor, WalksAtItsSpeedAndVehiclesPassThroughIt) {
  const ActorModel actor = actor_of("<path><waypoint pause='1'>10 0 180</waypoint></path>");
  EXPECT_EQ(actor_pose(actor, 0).yaw, 90 * kDegree);
  const double arrival = 10 / 1.4;
  EXPECT_NEAR(actor_pose(actor, arrival / 2).x, 5, 1e-9);
  EXPECT_NEAR(actor_pose(actor, arrival / 2).yaw, 0, 1e-9);  // along its way
  EXPECT_NEAR(actor_pose(actor, arrival * 0.05).yaw, 45 * kDegree, 1e-9);
  EXPECT_NEAR(actor_pose(actor, arrival + 0.5).x, 10, 1e-9);
  EXPECT_NEAR(std::fabs(actor_pose(actor, arrival + 0.5).yaw), kPi, 1e-9);
  const auto model = model_of("<actor><init_pose>0 0 0</init_pose></actor>" +
                              four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>"));
  EXPECT_EQ(model->bodies.size(), 1u);
  EXPECT_EQ(model->actors.at(0).name, "actor001");
}

// Elements fact 26.
TEST(Actor, EndsAtItsLastWaypointOrGoesRound) {
  const std::string points = "<waypoint animation='run'>7 0 0</waypoint><waypoint>7 1.4 0</waypoint></path>";
  const ActorModel once = actor_of("<path loop='false'>" + points);
  EXPECT_NEAR(actor_pose(once, 2).x, 7, 1e-9);  // 3.5 m/s
  EXPECT_NEAR(actor_pose(once, 1e6).y, 1.4, 1e-9);
  const ActorModel round = actor_of("<path loop='true'>" + points);
  const double cycle = 1.4 / 3.5 + 1;  // back at a run, up at a walk
  for (const double t : {3.1, 3.3, 3.9, 4.2}) {
    EXPECT_NEAR(actor_pose(round, t).y, actor_pose(round, t + 5 * cycle).y, 1e-9) << t;
    EXPECT_NEAR(actor_pose(round, t).x, 7, 1e-9);
  }
  const ActorModel stuck =
      actor_of("<path><waypoint>1 0 0</waypoint><waypoint animation='idle'>2 0 0</waypoint></path>");
  EXPECT_NEAR(actor_pose(stuck, 1e4).x, 1, 1e-9);
}

TEST(Actor, BadOnesAreRefused) {
  const auto error = [](const std::string& inside) {
    try {
      actor_of(inside);
    } catch (const WorldFileError& e) {
      EXPECT_GT(e.where().line, 0);
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error("<path><waypoint>1 2</waypoint></path>"), "");
  EXPECT_NE(error("<path><waypoint>1 2 3 4</waypoint></path>").find("found 4 numbers"), std::string::npos);
  EXPECT_NE(error("<path><waypoint animation='fly'>1 2 3</waypoint></path>"), "");
  EXPECT_NE(error("<walking_speed>0</walking_speed>"), "");
  EXPECT_NE(error(kSquare).find("expected a <path>"), std::string::npos);
}

}  // namespace
}  // namespace mvsim::test::animation_test
