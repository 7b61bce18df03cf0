// Agents of one world: the end of one agent's episode, shared rewards, and how agents see and touch each
// other. Robots drive head-on, so that where they meet and what is paid is known.
#include <gtest/gtest.h>
#include <unistd.h>

#include "batch/batch.h"
#include "batch/batch_test_util.h"
#include "sim/simulation.h"
#include "task/task.h"

namespace mvsim::agents_end_test {
namespace {

using namespace testing;

constexpr const char* kBody =
    R"(<action class="twist" vx="0 1" omega="-1 1"/><observe class="goal"/><observe class="velocity"/>)";
constexpr const char* kTerms =
    R"(<terminate class="goal" radius="0.5"/><terminate class="collision" then="leave"/>)";

constexpr const char* kGoal = "<reset><goal position='2 5'/></reset>";

std::string vehicle(const std::string& name, const std::string& pose, const std::string& sensor = "") {
  return "<vehicle name='" + name + "'><init_pose>" + pose + "</init_pose>" + sensor +
         "<dynamics class='differential'><controller class='twist_ideal'/></dynamics></vehicle>";
}

// r1 and r2 face each other 4 m apart, r3 stands aside; the goal is ahead of r3 alone.
const std::string kThree = vehicle("r1", "0 0 0") + vehicle("r2", "4 0 180") + vehicle("r3", "0 5 0");

EnvSpec env_of(const std::string& content, const std::string& attributes = "",
               const std::string& world = kThree) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("mvsim_agents_end_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "w.world.xml") << "<mvsim_world>" << world << "</mvsim_world>";
  return load_env_text("<mvsim_env id='t' world='w.world.xml' control_period='0.1' time_limit='6' " +
                           attributes + ">\n" + content + "</mvsim_env>",
                       (folder / "t.env.xml").string(), load_options());
}

std::string agents(const std::string& body = kBody) {
  return "<agent vehicles='r*'>" + body + "</agent>";
}

std::string three(const std::string& more = "") {
  return agents() + kGoal + kTerms + more;
}

BatchOptions rows(int count, AutoresetMode mode = AutoresetMode::kNextStep, int threads = 1) {
  BatchOptions out = options(1, threads, mode);
  out.num_rows = count;
  return out;
}

std::string error_of(const std::string& content, int count = 3, const std::string& attributes = "",
                     AutoresetMode mode = AutoresetMode::kNextStep) {
  try {
    const Batch batch(env_of(content, attributes), rows(count, mode));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// r1 and r2 drive at each other, r3 at its goal (slower, so that it gets there later), or stands.
std::vector<float> drive(float third = 0.0f) {
  return {1, 0, 1, 0, third, 0};
}
std::vector<float> still() {
  return {-1, 0, -1, 0, -1, 0};
}

bool is_zero(Batch& batch, size_t row) {
  for (size_t k = 0; k < batch.observations().size(); ++k)
    for (size_t i = 0; i < batch.observation_buffer(k).row_bytes(); ++i)
      if (batch.observation_buffer(k).row(row)[i] != std::byte{0}) return false;
  return true;
}

TEST(AgentEnds, OneDescriptionMayServeMany) {
  Batch batch(env_of(three()), rows(6));
  EXPECT_EQ(batch.num_agents(), 3);
  EXPECT_EQ(batch.num_envs(), 2);
  EXPECT_EQ(batch.rewards().size(), 6u);
  batch.reset();
  for (size_t row = 0; row < 6; ++row) EXPECT_EQ(batch.alive()[row], 1);
  EXPECT_NE(error_of(three(), 4).find("num_envs: found 4, expected a multiple of 3"), std::string::npos);
  const std::string none = "<agent vehicles='q*'>" + std::string(kBody) + "</agent>";
  EXPECT_NE(error_of(none).find("t.env.xml:2:1: <agent>, vehicles: found 'q*', which matches no vehicle"),
            std::string::npos)
      << error_of(none);
  EXPECT_NE(error_of("<agent vehicle='r1' vehicles='r*'>" + std::string(kBody) + "</agent>")
                .find("found 'vehicle' and 'vehicles'"),
            std::string::npos);
  EXPECT_NE(error_of(agents() + agents() + kGoal).find("of another agent"), std::string::npos);
}

// Where two collide they are taken out; the third goes on alone, and when it is through all begin anew.
TEST(AgentEnds, ThoseThatEndWaitForTheOthers) {
  for (const AutoresetMode mode :
       {AutoresetMode::kNextStep, AutoresetMode::kSameStep, AutoresetMode::kDisabled}) {
    Batch batch(env_of(three("<reward class='time'/>")), rows(3, mode));
    batch.reset();
    int steps = 0;
    for (; !batch.finished()[0]; ++steps) {
      ASSERT_LT(steps, 40);
      batch.step(drive(-1));
    }
    EXPECT_NEAR(steps, 14, 1);  // 2.8 m between their fronts, at 2 m/s
    EXPECT_TRUE(batch.terminated()[0] && batch.terminated()[1] && !batch.finished()[2]);
    EXPECT_EQ(batch.rewards()[0], 1);
    EXPECT_EQ(info(batch, "collision/agent").values[0], 1);
    EXPECT_EQ(info(batch, "collision/wall").values[0], 0);
    EXPECT_FALSE(batch.alive()[0] || batch.alive()[1]);
    EXPECT_TRUE(batch.alive()[2]);
    EXPECT_EQ(is_zero(batch, 0), mode == AutoresetMode::kSameStep);  // else it is the last one
    if (mode == AutoresetMode::kSameStep) {
      EXPECT_GT(batch.final_observation(0)[0], 0);
    }
    batch.step(drive(0));
    EXPECT_TRUE(is_zero(batch, 0) && is_zero(batch, 1) && !is_zero(batch, 2));
    EXPECT_EQ(batch.rewards()[0], 0);
    EXPECT_EQ(batch.rewards()[2], 1);
    EXPECT_FALSE(batch.finished()[0] || batch.terminated()[0] || batch.was_reset()[0]);
    EXPECT_FALSE(info(batch, "success").mask[0]);
    EXPECT_GT(vehicle_pose(batch.simulation(0), 0).x, 500);  // out of the world
    for (int s = 0; s < 30 && !batch.finished()[2]; ++s) batch.step(drive(1));
    EXPECT_TRUE(batch.finished()[2] && info(batch, "success").values[2] == 1);
    EXPECT_FALSE(batch.finished()[0]);  // it was told before
    if (mode == AutoresetMode::kDisabled) {
      EXPECT_THROW(batch.step(still()), Error);
      continue;
    }
    if (mode == AutoresetMode::kNextStep) batch.step(still());
    for (size_t row = 0; row < 3; ++row) {
      EXPECT_TRUE(batch.was_reset()[row] && batch.alive()[row]) << row;
      EXPECT_FALSE(is_zero(batch, row));
    }
    EXPECT_NEAR(vehicle_pose(batch.simulation(0), 0).x, 0, 1e-6);
  }
}

TEST(AgentEnds, TheTimeLimitEndsThoseThatAreLeft) {
  Batch batch(env_of(three()), rows(3));
  batch.reset();
  int ends[3] = {0, 0, 0};
  for (int s = 0; s < 60; ++s) {
    batch.step(drive(-1));
    for (size_t row = 0; row < 3; ++row) ends[row] += batch.finished()[row];
  }
  EXPECT_TRUE(batch.truncated()[2] && !batch.truncated()[0] && !batch.terminated()[0]);
  EXPECT_EQ(info(batch, "timeout").values[2], 1);
  for (const int count : ends) EXPECT_EQ(count, 1);
}

// A robot that has arrived stands where it is, in the way of others.
TEST(AgentEnds, ARobotThatHasArrivedStands) {
  Batch batch(env_of(agents() + kGoal + "<terminate class='goal' radius='0.5'/>"), rows(3));
  batch.reset();
  for (int s = 0; s < 40; ++s) batch.step({{-1, 0, -1, 0, 1, 0}});
  EXPECT_NEAR(vehicle_pose(batch.simulation(0), 2).x, 1.6, 0.2);
  EXPECT_NEAR(vehicle_twist(batch.simulation(0), 2).vx, 0, 1e-6);
  EXPECT_FALSE(batch.alive()[2]);
}

TEST(AgentEnds, OneThatRespawnsLeavesTheOthersAlone) {
  const std::string content = agents() + "<reset><spawn area='-3 3 -3 3'/><goal position='20 0'/></reset>" +
                              "<terminate class='collision' then='leave'/><reward class='time'/>";
  for (const AutoresetMode mode : {AutoresetMode::kNextStep, AutoresetMode::kSameStep}) {
    Batch batch(env_of(content, "on_end='respawn'"), rows(30, mode));
    batch.reset();
    int respawned = 0;
    std::vector<float> actions(60, 1.0f);  // circles, in which some meet
    std::vector<uint8_t> ended(30, 0);
    for (int s = 0; s < 60; ++s) {
      batch.step(actions);
      for (size_t row = 0; row < 30; ++row) {
        const bool begins = mode == AutoresetMode::kSameStep ? batch.finished()[row] : ended[row];
        ASSERT_EQ(batch.was_reset()[row] != 0, begins) << s << ", " << row;
        ASSERT_EQ(batch.rewards()[row], mode == AutoresetMode::kNextStep && begins ? 0 : 1);
        ASSERT_FALSE(is_zero(batch, row));
        respawned += batch.was_reset()[row] && s < 58;
      }
      ended.assign(batch.finished().begin(), batch.finished().end());
    }
    EXPECT_GT(respawned, 5);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(batch.episode(i), mode == AutoresetMode::kSameStep ? 1u : 0u);
  }
  EXPECT_NE(
      error_of(content, 3, "on_end='respawn'", AutoresetMode::kDisabled).find("expected the autoreset mode"),
      std::string::npos);
}

TEST(AgentEnds, ATerminationMayEndTheEpisodeOfAll) {
  Batch batch(env_of(agents() + kGoal + "<terminate class='collision' then='end_all'/>"), rows(3));
  batch.reset();
  for (int s = 0; s < 40 && !batch.finished()[0]; ++s) batch.step(drive(-1));
  EXPECT_TRUE(batch.terminated()[0] && batch.terminated()[1] && batch.truncated()[2]);
  EXPECT_EQ(info(batch, "timeout").values[2], 0);
}

TEST(AgentEnds, BadNamesAreRefused) {
  EXPECT_NE(error_of(three(), 3, "on_end='never'").find("on_end"), std::string::npos);
  const std::string then = agents() + "<terminate class='collision' then='vanish'/>";
  EXPECT_NE(error_of(then).find("then"), std::string::npos) << error_of(then);
  const std::string with = agents() + "<terminate class='collision' with='wall tree'/>";
  EXPECT_NE(error_of(with).find("found 'tree', expected some of wall, block, agent, person"),
            std::string::npos)
      << error_of(with);
}

// The time costs 1; of the progress the half is the mean of all.
TEST(AgentEnds, WhatIsSharedIsTheMean) {
  Batch own(env_of(agents() + kGoal + "<reward class='progress' weight='3'/>"), rows(3));
  Batch mixed(env_of(agents() + kGoal + "<reward class='progress' weight='3' share='0.5'/>"), rows(3));
  Batch all(env_of(agents() + kGoal + "<reward class='progress' weight='3' share='1'/>"), rows(3));
  for (Batch* b : {&own, &mixed, &all}) b->reset(), b->step({{1, 0, 0, 0, -1, 0}});
  const double mean = (own.rewards()[0] + own.rewards()[1] + own.rewards()[2]) / 3;
  EXPECT_GT(std::fabs(own.rewards()[0] - own.rewards()[1]), 0.01);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(all.rewards()[row], mean, 1e-12);
    EXPECT_NEAR(mixed.rewards()[row], 0.5 * own.rewards()[row] + 0.5 * mean, 1e-12);
  }
  for (int s = 0; s < 59; ++s) mixed.step(still());
  EXPECT_NEAR(info(mixed, "reward/progress").values[2], mixed.rewards()[2] + 0.5 * mean, 0.02);
  const std::string unlike = "<agent vehicle='r1'>" + std::string(kBody) +
                             "<reward class='time' share='1'/></agent>" + "<agent vehicle='r2'>" + kBody +
                             "</agent>" + kGoal;
  EXPECT_NE(error_of(unlike, 2).find("a reward that not all agents have alike"), std::string::npos);
}

TEST(AgentEnds, TheLastOneToArriveIsPaidForAll) {
  const std::string world = vehicle("r1", "0 0 0") + vehicle("r2", "1 3 0");
  Batch batch(
      env_of(agents() + "<reset><goal position='4 1.5'/></reset><reward class='all_goals' weight='5'/>"
                        "<terminate class='goal' radius='2'/>",
             "", world),
      rows(2));
  batch.reset();
  double paid[2] = {0, 0};
  for (int s = 0; s < 40 && !(batch.finished()[0]); ++s) {
    batch.step({{1, 0, 1, 0}});
    for (size_t row = 0; row < 2; ++row) paid[row] += batch.rewards()[row];
  }
  EXPECT_EQ(paid[0], 5);  // it comes from farther away
  EXPECT_EQ(paid[1], 0);
}

TEST(AgentEnds, RowsDependOnNeitherEnvsNorThreads) {
  for (const char* on_end : {"wait", "respawn", "end_all"}) {
    const EnvSpec spec = env_of(
        agents() + "<reset><spawn area='-3 3 -3 3'/><goal area='-3 3 -3 3' distance='1'/></reset>" + kTerms,
        std::string("on_end='") + on_end + "'");
    Batch one(spec, rows(3)), many(spec, rows(27, AutoresetMode::kNextStep, 3));
    for (Batch* b : {&one, &many}) {
      for (int i = 0; i < b->num_envs(); ++i) b->seed_env(i, 70 + static_cast<uint64_t>(i));
      b->reset();
    }
    int ends = 0;
    for (uint32_t s = 0; s < 150; ++s) {
      std::vector<float> actions(54);
      for (size_t row = 0; row < 27; ++row) random_action(row, s, actions.data() + 2 * row, 2);
      one.step(std::span(actions).first(6));
      many.step(actions);
      for (int row = 0; row < 3; ++row) {
        ASSERT_TRUE(row_of(one, row) == row_of(many, row)) << on_end << s;
        ASSERT_EQ(one.alive()[row], many.alive()[row]);
        ends += one.terminated()[row];
      }
    }
    EXPECT_GT(ends, 0) << on_end;
  }
}

TEST(AgentEnds, ASnapshotHoldsThoseThatWait) {
  Batch one(env_of(three()), rows(3)), other(env_of(three()), rows(3));
  one.reset();
  while (!one.finished()[0]) one.step(drive(-1));
  for (int s = 0; s < 3; ++s) {  // just ended, and after that
    const std::string state = one.state(0);
    const std::string_view view = state;
    const int slot = 0;
    other.set_state(std::span(&slot, 1), std::span(&view, 1));
    EXPECT_EQ(other.state(0), state);
    EXPECT_TRUE(std::ranges::equal(other.alive(), one.alive()));
    const std::unique_ptr<Batch> copy = one.clone();
    for (Batch* b : {&one, &other, copy.get()}) b->step(drive(0));
    for (int row = 0; row < 3; ++row) {
      ASSERT_TRUE(row_of(one, row) == row_of(other, row)) << s;
      ASSERT_TRUE(row_of(one, row) == row_of(*copy, row)) << s;
    }
  }
}

// r2 stands 4 m ahead of r1 and drives at it; r3 is 5 m to its left and 4.0 < 5 m: nearest first.
TEST(AgentEnds, NeighboursAreSeenNearestFirst) {
  const std::string body =
      R"(<action class="twist" vx="0 1" omega="-1 1"/><observe class="neighbours" count="3" max_distance="6"/>)";
  Batch batch(env_of(agents(body) + "<terminate class='collision' then='leave'/>"), rows(3));
  batch.reset();
  EXPECT_EQ(batch.observations()[0].shape, std::vector<size_t>{18});
  const auto value = [&](size_t row, size_t i) { return batch.observation(0)[row * 18 + i]; };
  EXPECT_NEAR(value(0, 0), 4, 1e-5);
  EXPECT_NEAR(value(0, 1), 0, 1e-5);
  EXPECT_NEAR(value(0, 6), 0, 1e-5);
  EXPECT_NEAR(value(0, 7), 5, 1e-5);
  EXPECT_GT(value(0, 4), 0.1);  // radius
  EXPECT_EQ(value(0, 5), 1);
  EXPECT_EQ(value(0, 17), 0);  // there are two others
  EXPECT_NEAR(value(1, 1), 0, 1e-5);
  EXPECT_EQ(value(1, 11), 0);  // r3 is 6.4 m away
  batch.step(drive(-1));
  EXPECT_NEAR(value(0, 0), 3.8, 0.03);
  EXPECT_NEAR(value(0, 2), -1, 1e-3);  // r2 comes at it
  EXPECT_NEAR(value(1, 2), -1, 1e-3);  // and it at r2, which looks the other way
  while (!batch.finished()[0]) batch.step(drive(-1));
  batch.step(still());
  for (size_t i = 0; i < 18; ++i) EXPECT_EQ(value(2, i), 0) << i;  // those two have left
}

TEST(AgentEnds, LidarsSeeTheOtherAgents) {
  const std::string lidar =
      "<sensor class='laser' name='lidar'><pose_3d>0 0 0.1 0 0 "
      "0</pose_3d><fov_degrees>90</fov_degrees><nrays>3</nrays>"
      "<max_range>10</max_range><sensor_period>0.1</sensor_period><range_std_noise>0</range_std_noise></"
      "sensor>";
  const std::string world = vehicle("r1", "0 0 0", lidar) + vehicle("r2", "4 0 180", lidar);
  const std::string body = R"(<action class="twist" vx="0 1" omega="-1 1"/><observe class="scan"/>)";
  Batch batch(env_of(agents(body) + "<terminate class='collision' then='leave'/>", "", world), rows(2));
  batch.reset();
  const float first = batch.observation(0)[1];
  EXPECT_GT(first, 3);
  EXPECT_LT(first, 4);
  EXPECT_NEAR(batch.observation(0)[0], 10, 1e-5);  // nothing to its right
  for (int s = 0; s < 5; ++s) batch.step({{1, 0, 1, 0}});
  EXPECT_NEAR(batch.observation(0)[1], first - 1, 0.05);
  EXPECT_NEAR(batch.observation(0)[4], first - 1, 0.05);
}

// Contacts are told apart, and a term may look at some of them only.
TEST(AgentEnds, CollisionsAreToldApart) {
  const std::string box = "<zmin>0</zmin><zmax>1</zmax><geometry type='box' lx='0.4' ly='6' lz='1'/>";
  const std::string world = vehicle("r1", "0 0 0") + vehicle("r2", "0 -6 0") +
                            "<block name='crate'><static>true</static><init_pose>2 0 0</init_pose>" + box +
                            "</block>" + "<walls><shape><pt>2 -9</pt><pt>2 -3.3</pt></shape></walls>";
  const std::string terms =
      "<reward class='collision' with='wall'/><terminate class='collision' with='block agent'/>";
  Batch batch(env_of(agents() + "<reset><goal position='20 0'/></reset>" + terms, "", world), rows(2));
  batch.reset();
  double paid[2] = {0, 0};
  for (int s = 0; s < 60; ++s) {
    batch.step({{1, 0, 1, 0}});
    for (size_t row = 0; row < 2; ++row) {
      paid[row] += batch.rewards()[row];
      if (!batch.finished()[row]) continue;
      EXPECT_EQ(info(batch, "collision/block").values[row], row == 0);
      EXPECT_EQ(info(batch, "collision/wall").values[row], row == 1);
      EXPECT_EQ(batch.terminated()[row], row == 0);  // the wall ends nothing
    }
  }
  EXPECT_EQ(paid[0], 0);
  EXPECT_EQ(paid[1], 1);
}

}  // namespace
}  // namespace mvsim::agents_end_test
