// The pose array against closed forms.
#include "sim/sense.h"

#include <gtest/gtest.h>

#include "sim/simulation.h"
#include "sim/worlds.h"

namespace mvsim::test::scene_poses_test {
namespace {

// A body's yaw has Box2D's single precision.
void expect_near(Vec3 found, Vec3 expected) {
  EXPECT_NEAR(found.x, expected.x, 1e-6);
  EXPECT_NEAR(found.y, expected.y, 1e-6);
  EXPECT_NEAR(found.z, expected.z, 1e-6);
}

std::vector<ScenePose> poses_of(const Simulation& simulation) {
  std::vector<ScenePose> poses;
  scene_poses(simulation, poses);
  return poses;
}

constexpr const char* kWheels = "<l_wheel pos='0 0.3' diameter='0.4'/><r_wheel pos='0 -0.3' diameter='0.4'/>";

TEST(ScenePoses, BodiesAndWheelsStandWhereTheVehicleDoes) {
  const Simulation simulation(model_of(vehicle("differential", kWheels, "", "v", "2 3 90")), 0);
  const auto poses = poses_of(simulation);
  ASSERT_EQ(poses.size(), 4u);
  expect_near(poses[0].T_world_frame.transform({1, 2, 3}), {1, 2, 3});
  expect_near(poses[1].T_world_frame.transform({1, 0, 0.5}), {2, 4, 0.5});
  expect_near(poses[2].T_world_frame.origin, {1.7, 3, 0.2});
  expect_near(poses[3].T_world_frame.origin, {2.3, 3, 0.2});
  expect_near(poses[2].T_world_frame.y, {-1, 0, 0});
}

TEST(ScenePoses, WheelsRollForwardByTheirAngle) {
  Simulation simulation(model_of(bot("r", kPid, kOrigin)), 0);
  simulation.set_twist(0, 1, 0);
  for (int i = 0; i < 30; ++i) simulation.step();
  const double angle = wheel_states(simulation, 0)[0].angle;
  ASSERT_GT(angle, 0.05);
  const ScenePose wheel = poses_of(simulation)[2];
  const SinCos turned = sin_cos(angle);
  // the point on top of the wheel has moved forward
  const double yaw = vehicle_pose(simulation, 0).yaw;
  const Rotation2 heading(yaw);
  expect_near(wheel.T_world_frame.z, {turned.sin * heading.c, turned.sin * heading.s, turned.cos});
}

TEST(ScenePoses, SteeredWheelsPointWhereTheySteer) {
  Simulation simulation(
      model_of(car("ackermann",
                   "<controller class='front_steer_pid'><V>1</V><STEER_ANG>20</STEER_ANG></controller>")),
      0);
  simulation.step();
  const auto poses = poses_of(simulation);
  for (size_t w = 0; w < 4; ++w) {
    const Rotation2 axle(vehicle_pose(simulation, 0).yaw + wheel_states(simulation, 0)[w].steer + kPi / 2);
    expect_near(poses[frame_of_wheel(1, w)].T_world_frame.y, {axle.c, axle.s, 0});
  }
  EXPECT_GT(std::fabs(wheel_states(simulation, 0)[2].steer), 0.01);
}

TEST(ScenePoses, PlacedBlocksCarryTheirSize) {
  const auto model = model_of(
      "<block name='a'><static>true</static><init_pose>1 0 0</init_pose></block>"
      "<block name='b'><static>true</static><intangible>true</intangible><init_pose>5 0 "
      "0</init_pose></block>",
      {.placed_blocks = {"*"}});
  Simulation simulation(model, 0);
  simulation.place_block(0, {3, 4, 0.5});
  simulation.place_block(1, {-3, -4, 0});
  simulation.set_param(model->blocks[0].params + kBlockScale, 2.5);
  const auto poses = poses_of(simulation);
  expect_near(poses[model->blocks[0].frame].T_world_frame.origin, {3, 4, 0});
  EXPECT_EQ(poses[model->blocks[0].frame].scale, 2.5);
  expect_near(poses[model->blocks[1].frame].T_world_frame.origin, {-3, -4, 0});
  EXPECT_EQ(poses[model->blocks[1].frame].scale, 1);
}

TEST(DebugMarks, LidarsHitWhatStandsThereAndLookingChangesNothing) {
  const std::string lidar =
      "<sensor class='laser' name='s'><nrays>3</nrays><range_std_noise>0.1</range_std_noise></sensor>";
  Simulation simulation(
      model_of(vehicle("differential", "", lidar) + "<block name='wall'><static>true</static><shape><pt>-.5 "
                                                    "-9</pt><pt>.5 -9</pt><pt>.5 9</pt><pt>-.5 9</pt></shape>"
                                                    "<init_pose>4 0 0</init_pose></block>"),
      7);
  const std::string before = simulation.snapshot();
  const Marks marks = debug_marks(simulation, GoalMark{{1, 1}, 0.4});
  EXPECT_EQ(simulation.snapshot(), before);
  ASSERT_EQ(marks.hits.size(), 1u) << "of the rays to the right, ahead and to the left";
  EXPECT_NEAR(marks.hits[0].x, 3.5, 0.6);
  ASSERT_EQ(marks.headings.size(), 1u);
  ASSERT_TRUE(marks.goal);
  EXPECT_EQ(marks.goal->outer_radius, 0.4);
  EXPECT_TRUE(marks.goal->line.empty()) << "level ground";
}

TEST(DebugMarks, TheArrowOfALongVehicleIsInItsMiddleAndAsLongAsItIsWide) {
  const Simulation simulation(
      model_of(
          "<vehicle name='v'><dynamics class='differential'><l_wheel pos='0 0.5'/><r_wheel pos='0 -0.5'/>"
          "<chassis mass='10' zmin='0.1' zmax='0.4'><shape><pt>-8 -1</pt><pt>0 -1</pt><pt>0 1</pt><pt>-8 1"
          "</pt></shape></chassis></dynamics><init_pose>2 0 90</init_pose></vehicle>"),
      7);
  const Marks marks = debug_marks(simulation, {});
  ASSERT_EQ(marks.headings.size(), 1u);
  EXPECT_DOUBLE_EQ(marks.headings[0].length, 2);
  EXPECT_NEAR(marks.headings[0].frame.origin.x, 2, 1e-9);
  EXPECT_NEAR(marks.headings[0].frame.origin.y, -4, 1e-9) << "4 m behind the reference, which faces y";
}

TEST(DebugMarks, ALidarThatStandsInTheWorldHitsToo) {
  const Simulation simulation(
      model_of("<block><static>true</static><init_pose>3 0 0</init_pose></block>"
               "<sensor class='laser' name='s'><pose_3d>1 0 0.4 0 0 "
               "0</pose_3d><nrays>3</nrays><fov_degrees>2</fov_degrees>"
               "<range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg></sensor>"),
      0);
  const Marks marks = debug_marks(simulation, {});
  ASSERT_EQ(marks.hits.size(), 3u);
  expect_near(marks.hits[1], {2.5, 0, 0.4});
}

TEST(DebugMarks, JointsAreShownByKind) {
  const auto model =
      model_of(bot("a", kPid, kOrigin) +
               "<block name='p'><init_pose>-2 0 0</init_pose></block>"
               "<block name='q'><init_pose>-5 0 0</init_pose></block>"
               "<joint type='revolute' body_a='a' anchor_a='-0.5 0' body_b='p' anchor_b='1.5 0'/>"
               "<joint type='distance' body_a='p' anchor_a='0 0' body_b='q' anchor_b='0 0'/>");
  const Marks marks = debug_marks(Simulation(model, 0));
  ASSERT_EQ(marks.hitches.size(), 1u);
  ASSERT_EQ(marks.ropes.size(), 1u);
  EXPECT_NEAR(marks.ropes[0][0].x, -2, 1e-6);
  EXPECT_NEAR(marks.ropes[0][1].x, -5, 1e-6);
}

}  // namespace
}  // namespace mvsim::test::scene_poses_test
