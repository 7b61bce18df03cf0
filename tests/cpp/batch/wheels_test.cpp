// The observation `wheels` and the slip that it shows, against formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"

namespace mvsim::wheels_test {
namespace {

using testing::options;

// A robot of 15 + 2 * 2 kg that starts with `velocity`, its left wheel mounted at `yaw` degrees.
std::string write_world(const std::string& velocity, const std::string& controller, const std::string& yaw) {
  const std::string folder = ::testing::TempDir() + "/mvsim_wheels";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/w.world.xml")
      << R"(<mvsim_world version="1.0"><simul_timestep>0.005</simul_timestep>
    <vehicle name="r"><init_pose>0 0 0</init_pose><init_vel>)" +
             velocity + R"(</init_vel>
    <dynamics class="differential">
      <l_wheel pos="0 0.3 )" +
             yaw + R"(" mass="2" width="0.05" diameter="0.4"/>
      <r_wheel pos="0 -0.3" mass="2" width="0.05" diameter="0.4"/>
      <chassis mass="15" zmin="0.05" zmax="0.3"/>)" +
             controller + R"(</dynamics>
    <friction class="default"><mu>0.8</mu></friction></vehicle></mvsim_world>)";
  return folder + "/w.world.xml";
}

const char* const kPid =
    R"(<controller class="twist_pid"><KP>20</KP><KI>10</KI><max_torque>20</max_torque></controller>)";

EnvSpec env_of(const std::string& world, const std::string& wheels) {
  return testing::from_text(R"(<mvsim_env id="t/T-v0" world=")" + world + R"(" control_period="0.1">
    <agent><action class="twist" vx="-1 2" omega="-1 1"/><observe class="wheels" )" +
                            wheels + R"(/></agent>
    <reward class="time"/></mvsim_env>)");
}

EnvLoadOptions loading() {
  EnvLoadOptions o = testing::load_options();
  o.roots.push_back(::testing::TempDir());
  return o;
}

std::vector<float> observed(const Task& task, EnvState& env) {
  Scratch scratch;
  std::vector<float> out(task.observation_specs.at(0).low.size());
  task.agents[0].observations.at(0).term->write_frame(env, env.agents[0], scratch,
                                                      reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(WheelsObservation, SlipOfKnownSpeeds) {
  const auto task = compile_task(env_of(write_world("1 0.5 22.918311805232928", kPid, "30"), ""), loading());
  EnvState env = make_env(*task, 1);
  env.simulation.reset(1, 0);
  const auto seen = observed(*task, env);
  ASSERT_EQ(seen.size(), 4u);
  // turning at 0.4 rad/s, wheels at rest: the hubs move at (1 -+ 0.3 * 0.4, 0.5), to the left wheel turned by
  // 30 degrees
  const double c = std::cos(kPi / 6), s = std::sin(kPi / 6);
  EXPECT_FLOAT_EQ(seen[0], -1);
  EXPECT_FLOAT_EQ(seen[1], -1);
  EXPECT_NEAR(seen[2], std::atan2(0.5 * c - 0.88 * s, 0.88 * c + 0.5 * s), 1e-6);
  EXPECT_NEAR(seen[3], std::atan2(0.5, 1.12), 1e-6);
}

TEST(WheelsObservation, QuantitiesInTheOrderOfTheFile) {
  const auto task = compile_task(
      env_of(write_world("0 0 0", kPid, "0"), "values='steer spin force torque load slip_angle slip_ratio'"),
      loading());
  EnvState env = make_env(*task, 1);
  start_episode(*task, env);
  double reward = 0;
  env.agents[0].action = {1, 0.5};
  for (int i = 0; i < 3; ++i) step_period(*task, env, [] { return true; }, {&reward, 1});
  const auto seen = observed(*task, env);
  ASSERT_EQ(seen.size(), 16u);
  const auto wheels = wheel_states(env.simulation, 0);
  const Twist2 twist = vehicle_twist(env.simulation, 0);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(seen[i], 0);
    EXPECT_FLOAT_EQ(seen[2 + i], static_cast<float>(wheels[i].spin));
    EXPECT_FLOAT_EQ(seen[4 + i], static_cast<float>(wheels[i].force_x));
    EXPECT_FLOAT_EQ(seen[6 + i], static_cast<float>(wheels[i].force_y));
    EXPECT_FLOAT_EQ(seen[8 + i], static_cast<float>(wheels[i].torque));
    EXPECT_NEAR(seen[10 + i], 7.5 * 9.81, 1e-4);  // half of the chassis
    const double vx = twist.vx - twist.omega * (i == 0 ? 0.3 : -0.3), rolling = 0.2 * wheels[i].spin;
    EXPECT_NEAR(seen[12 + i], std::atan2(twist.vy, std::max(std::fabs(vx), 0.1)), 1e-6);
    EXPECT_NEAR(seen[14 + i], (rolling - vx) / std::max({std::fabs(rolling), std::fabs(vx), 0.1}), 1e-6);
  }
  EXPECT_GT(seen[8], 0);        // it speeds up
  EXPECT_GT(seen[4], 0);        // the ground pushes it forward
  EXPECT_NE(seen[2], seen[3]);  // and it turns
}

TEST(WheelsObservation, BoundsAreFiniteAndFromTheModel) {
  const auto task = compile_task(
      env_of(write_world("0 0 0", kPid, "0"), "values='slip_ratio slip_angle load torque force spin steer'"),
      loading());
  const ObservationSpec& info = task->observation_specs.at(0);
  ASSERT_EQ(info.high.size(), 16u);
  const double weight = 19 * 9.81, spin = 1.5 * (2 + 1 * 0.3) / 0.2;
  const double expected[] = {1, kPi / 2, weight, 20, weight, weight, spin, kPi / 2};
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(info.high[i], expected[i / 2], 1e-4) << i;
    EXPECT_NEAR(info.low[i], i / 2 == 2 ? 0 : -expected[i / 2], 1e-4) << i;
  }
  // values beyond the bound are clipped: a locked wheel that slides
  Batch batch(env_of(write_world("1 0 0", kPid, "0"), "values='slip_ratio' max_slip_ratio='0.25'"), [] {
    BatchOptions o = options(1);
    o.load = loading();
    return o;
  }());
  batch.reset();
  batch.step(std::vector<float>{1, 0});
  for (float v : batch.observation(0)) EXPECT_LE(std::fabs(v), 0.25f);
}

void expect_error(const std::string& controller, const std::string& attributes, const std::string& text) {
  try {
    compile_task(env_of(write_world("0 0 0", controller, "0"), attributes), loading());
    FAIL() << attributes;
  } catch (const WorldFileError& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("test.env.xml:2:"), std::string::npos) << e.what();
  }
}

TEST(WheelsObservation, Mistakes) {
  expect_error(kPid, "values='slip_rate'", "did you mean 'slip_ratio'");
  expect_error(kPid, "values='spin spin'", "'spin' twice");
  expect_error(kPid, "values=' '", "found nothing, expected some of slip_ratio");
  expect_error(kPid, "values='spin' max_load='3'", "unknown attribute 'max_load'");
  expect_error(kPid, "values='spin' max_spin='0'", "expected > 0");
  // an ideal controller has no torque to take the bound from
  expect_error("<controller class='twist_ideal'/>", "values='torque'", "expected the attribute 'max_torque'");
}

}  // namespace
}  // namespace mvsim::wheels_test
