// Elevation maps in environments: the observation `height_scan`, slopes of starts and goals.
#include <gtest/gtest.h>

#include <cmath>

#include "episode/episode.h"
#include "episode/observe.h"
#include "task/plan/planning_grid.h"
#include "task/task_test_util.h"

namespace mvsim::ground_test {
namespace {

// 40 x 40 m that rise by 0.25 along x beyond x = 0, and a low block.
EnvSpec hillside(const std::string& observe, const std::string& reset, const std::string& more = "") {
  const std::string folder = ::testing::TempDir() + "/mvsim_ground";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/w.world.xml")
      << R"(<mvsim_world version="1.0"><simul_timestep>0.01</simul_timestep>
    <element class="elevation_map"><resolution>20</resolution>
      <elevation_data_matrix>[0 0 0; 0 0 0; 5 5 5]</elevation_data_matrix></element>
    <block name="kerb"><intangible>true</intangible><init_pose>-3 0 0</init_pose>
      <geometry type="box" lx="1" ly="1" lz="0.2"/></block>
    <include file=")"
      << testing::kSource << R"(/worlds/definitions/jackal.vehicle.xml" default_sensors="false"/>
    <vehicle name="robot" class="jackal"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>)";
  return testing::from_text(
      R"(<mvsim_env id="t/T-v0" world=")" + folder + R"(/w.world.xml" control_period="0.1">
    <agent><action class="twist" vx="-1 1" omega="-1 1"/>)" +
      observe + "</agent><reset>" + reset + R"(</reset><reward class="time"/>)" + more + "</mvsim_env>");
}

EnvLoadOptions loading() {
  EnvLoadOptions o = testing::load_options();
  o.roots.push_back(::testing::TempDir());
  return o;
}

std::vector<float> scan_at(const std::string& pose, const std::string& attributes) {
  const auto task = compile_task(
      hillside("<observe class=\"height_scan\" " + attributes + "/>", "<spawn pose=\"" + pose + "\"/>"),
      loading());
  EnvState env = make_env(*task, 1);
  start_episode(*task, env);
  Scratch scratch;
  std::vector<float> out(task->observation_specs.at(0).low.size());
  write_observation(task->agents[0].observations.at(0),
                    {&env, &env.agents[0], true, reinterpret_cast<std::byte*>(out.data())}, scratch);
  return out;
}

TEST(HeightScan, IsAGridInTheRobotsFrame) {
  // facing up the slope at x = 8, height 2
  const std::vector<float> seen = scan_at("8 0 0", "rows=\"3\" columns=\"2\" spacing=\"0.4\" ahead=\"0.2\"");
  ASSERT_EQ(seen.size(), 6u);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 2; ++column)
      EXPECT_NEAR(seen[2 * row + column], 0.25 * (0.2 + (row - 1) * 0.4), 1e-5) << row << " " << column;
  // across it: left is downhill
  const std::vector<float> across = scan_at("8 0 90", "rows=\"1\" columns=\"3\" spacing=\"1\"");
  EXPECT_NEAR(across[0], 0.25, 1e-5) << "right";
  EXPECT_NEAR(across[1], 0, 1e-5);
  EXPECT_NEAR(across[2], -0.25, 1e-5) << "left";
}

TEST(HeightScan, SeesBlocksTheRimOfTheMapAndItsLimits) {
  const std::vector<float> kerb = scan_at("-4 0.5 0", "rows=\"3\" columns=\"1\" spacing=\"1.5\"");
  EXPECT_NEAR(kerb[2], 0.2, 1e-6);
  EXPECT_NEAR(kerb[0], 0, 1e-6);
  const std::vector<float> rim = scan_at("18 0 0", "rows=\"3\" columns=\"1\" spacing=\"4\" max=\"0.8\"");
  EXPECT_FLOAT_EQ(rim[2], -0.8f) << "beyond the map ground is at 0";
  EXPECT_FLOAT_EQ(rim[0], -0.8f) << "1 m lower, clipped";
}

TEST(GroundSlope, IsTheTangentOfTheSlopeAndInfiniteAtTheRim) {
  const auto task = compile_task(hillside("<observe class=\"attitude\"/>", ""), loading());
  const Model& model = *task->models.at(0);
  EXPECT_NEAR(ground_slope(model, {8, 3}), 0.25, 1e-6);
  EXPECT_EQ(ground_slope(model, {-8, 3}), 0);
  EXPECT_TRUE(std::isinf(ground_slope(model, {19.9, 3})));
  EXPECT_TRUE(is_known_ground(model, {19.9, 3}));
  EXPECT_FALSE(is_known_ground(model, {20.1, 3}));
}

TEST(GroundSlope, PlacesBesideTheMapAreErrors) {
  for (const char* reset :
       {R"(<goal position="100 0"/>)", R"(<spawn pose="0 -21 0"/>)", R"(<spawn/><goal area="21 22 0 1"/>)"}) {
    try {
      (void)compile_task(hillside("<observe class=\"velocity\"/>", reset), loading());
      ADD_FAILURE() << reset;
    } catch (const WorldFileError& e) {
      EXPECT_NE(std::string(e.what()).find("what walls and maps enclose, x -20 to 20, y -20 to 20"),
                std::string::npos)
          << e.what();
    }
  }
}

TEST(GroundSlope, StartsAndGoalsKeepToLevelGround) {
  const auto task = compile_task(
      hillside("<observe class=\"goal\"/>", "<spawn slope=\"10\"/><goal slope=\"10\" distance=\"1\"/>"),
      loading());
  EnvState env = make_env(*task, 3);
  for (int i = 0; i < 200; ++i) {
    start_episode(*task, env);
    EXPECT_LT(env.agents[0].start.x, 0.3);
    EXPECT_LT(env.agents[0].goal.x, 0.3);
  }
}

}  // namespace
}  // namespace mvsim::ground_test
