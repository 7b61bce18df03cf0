// Several agents in one env: rows of env x agent, each with its vehicle, goal, rewards and terminations.
#include <gtest/gtest.h>
#include <unistd.h>

#include "batch/batch.h"
#include "batch/batch_test_util.h"
#include "sim/simulation.h"
#include "task/task.h"
#include "task/terms.h"

namespace mvsim::agents_test {
namespace {

using namespace testing;

constexpr const char* kWorld = R"(<mvsim_world>
  <vehicle name="a"><init_pose>0 0 0</init_pose><dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="b"><init_pose>0 5 90</init_pose><dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  </mvsim_world>)";

constexpr const char* kBody =
    R"(<action class="twist" vx="0 1" omega="-1 1"/><observe class="goal"/><observe class="velocity"/>
       <observe class="last_action"/>)";
constexpr const char* kGoal = R"(<reset><goal position="6 2.5"/></reset>)";
constexpr const char* kTerms = R"(<reward class="progress" weight="2"/><reward class="time" weight="-0.1"/>
       <terminate class="goal" radius="1"/>)";

std::string agent(const std::string& vehicle, const std::string& body) {
  return "<agent vehicle='" + vehicle + "'>" + body + "</agent>";
}

EnvSpec env_of(const std::string& content, const std::string& attributes = "") {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_agents_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "two.world.xml") << kWorld;
  return load_env_text("<mvsim_env id='t' world='two.world.xml' control_period='0.1' time_limit='12' " +
                           attributes + ">\n" + content + "</mvsim_env>",
                       (folder / "t.env.xml").string(), load_options());
}

EnvSpec two() {
  return env_of(agent("a", kBody) + agent("b", kBody) + kGoal + kTerms);
}

std::string error_of(const std::string& content) {
  try {
    (void)compile_task(env_of(content), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

// The second agent drives to its right in a curve, the first one straight.
std::vector<float> steering(uint32_t step, size_t envs) {
  std::vector<float> out;
  for (size_t i = 0; i < envs; ++i) {
    out.insert(out.end(), {1.0f, 0.1f * static_cast<float>(i)});
    out.insert(out.end(), {0.5f, step < 12 ? -1.0f : 0.0f});
  }
  return out;
}

TEST(Agents, HaveARowEach) {
  Batch batch(two(), options(3));
  EXPECT_EQ(batch.num_agents(), 2);
  EXPECT_EQ(batch.observation(0).size(), 3u * 2 * 3);
  EXPECT_EQ(batch.rewards().size(), 6u);
  EXPECT_THROW(batch.step(std::vector<float>(6)), Error);
}

// Returns the row as a lone agent has it: without the masks of the kinds of contacts, which stand last.
std::string as_if_alone(Batch& batch, int row) {
  const std::string all = row_of(batch, row);
  return all.substr(0, all.size() - kContactKinds.size());
}

// Where robots do not meet, each goes the way that it goes alone.
TEST(Agents, ThatDoNotMeetMoveAsIfAlone) {
  const std::string terms = std::string(kGoal) + R"(<reward class="progress" weight="2"/>)";
  Batch both(env_of(agent("a", kBody) + agent("b", kBody) + terms), options(1));
  Batch first(env_of(agent("a", kBody) + terms), options(1)),
      second(env_of(agent("b", kBody) + terms), options(1));
  for (Batch* b : {&both, &first, &second}) b->reset();
  for (uint32_t s = 0; s < 50; ++s) {
    const std::vector<float> actions = steering(s, 1);
    both.step(actions);
    first.step(std::span(actions).first(2));
    second.step(std::span(actions).last(2));
    ASSERT_TRUE(as_if_alone(both, 0) == row_of(first, 0)) << s;
    ASSERT_TRUE(as_if_alone(both, 1) == row_of(second, 0)) << s;
  }
}

TEST(Agents, TheFirstOneThatTerminatesMayEndTheEpisodeOfAll) {
  for (const AutoresetMode mode : {AutoresetMode::kNextStep, AutoresetMode::kSameStep}) {
    Batch batch(env_of(agent("a", kBody) + agent("b", kBody) + kGoal + kTerms, "on_end='end_all'"),
                options(1, 1, mode));
    batch.reset();
    for (uint32_t s = 0; s < 200 && !batch.finished()[0]; ++s) {
      ASSERT_EQ(batch.was_reset()[1], s == 0);
      const float to_goal = batch.observation(0)[2];  // sine of its direction
      batch.step({{1.0f, to_goal, -1.0f, 0.0f}});     // a drives to the goal, b stays
    }
    EXPECT_TRUE(batch.finished()[0] && batch.finished()[1]);
    EXPECT_TRUE(batch.terminated()[0] && !batch.truncated()[0]);
    EXPECT_TRUE(!batch.terminated()[1] && batch.truncated()[1]);
    EXPECT_EQ(info(batch, "success").values[0], 1);
    EXPECT_EQ(info(batch, "success").values[1], 0);
    EXPECT_EQ(info(batch, "timeout").values[1], 0);
    EXPECT_GT(info(batch, "reward/progress").values[0], 2);
    EXPECT_NEAR(info(batch, "reward/progress").values[1], 0, 1e-6);
    EXPECT_EQ(batch.was_reset()[1], mode == AutoresetMode::kSameStep);
  }
}

TEST(Agents, MayHaveRewardsAndTerminationsOfTheirOwn) {
  const std::string own = R"(<reward class="turn" weight="-1"/><terminate class="off_map" margin="100"/>)";
  Batch batch(env_of(agent("a", std::string(kBody) + own) + agent("b", kBody) + kGoal + kTerms), options(1));
  batch.reset();
  batch.step({{1.0f, 1.0f, -1.0f, 1.0f}});
  EXPECT_NEAR(batch.rewards()[1], -0.1, 1e-4);        // on the spot
  EXPECT_LT(batch.rewards()[0], batch.rewards()[1]);  // it turned, and got some way
  while (!batch.finished()[0]) batch.step({{-1.0f, 1.0f, -1.0f, 1.0f}});
  EXPECT_TRUE(info(batch, "reward/turn").mask[0] && !info(batch, "reward/turn").mask[1]);
  EXPECT_TRUE(info(batch, "terminated/off_map").mask[0] && !info(batch, "terminated/off_map").mask[1]);
  EXPECT_EQ(info(batch, "timeout").values[0], 1);
}

// The root's form is a shorthand: no byte differs.
TEST(Agents, TermsOfTheRootAreThoseOfTheAgent) {
  Batch root(env_of(agent("a", kBody) + kGoal + kTerms), options(2)),
      inside(env_of(agent("a", std::string(kBody) + kTerms) + kGoal), options(2));
  EXPECT_TRUE(traces(root, 60) == traces(inside, 60));
  EnvSpec spec = env_of(agent("a", std::string(kBody) + kTerms) + kGoal);
  apply_overrides(spec, dict({{"reward", dict({{"time", weight(-5)}})}}));
  EXPECT_EQ(spec.agents[0].rewards[1].params.find("weight")->text, "-5");
}

TEST(Agents, RowsDependOnNeitherEnvsNorThreads) {
  const EnvSpec spec =
      env_of(agent("a", kBody) + agent("b", kBody) +
             "<reset><spawn area='-4 4 -4 4'/><goal area='-9 9 -9 9' distance='2'/></reset>" + kTerms);
  Batch one(spec, options(1)), many(spec, options(9, 3));
  for (Batch* b : {&one, &many}) {
    for (int i = 0; i < b->num_envs(); ++i) b->seed_env(i, 70 + i);
    b->reset();
  }
  EXPECT_GT(std::abs(one.observation(0)[1] - one.observation(0)[4]), 1e-3);  // goals and starts of their own
  for (uint32_t s = 0; s < 150; ++s) {
    const std::vector<float> actions = steering(s, 9);
    one.step(std::span(actions).first(4));
    many.step(actions);
    for (int row = 0; row < 2; ++row) ASSERT_TRUE(row_of(one, row) == row_of(many, row)) << s;
  }
}

TEST(Agents, ASnapshotHoldsThemAll) {
  Batch one(two(), options(1)), other(two(), options(2));
  one.reset();
  other.reset();
  for (uint32_t s = 0; s < 20; ++s) one.step(steering(s, 1));
  const std::string state = one.state(0);
  const std::string_view view = state;
  const int slot = 1;
  other.set_state(std::span(&slot, 1), std::span(&view, 1));
  EXPECT_EQ(other.state(1), state);
  for (uint32_t s = 20; s < 60; ++s) {
    std::vector<float> actions = steering(s, 1);
    one.step(actions);
    actions.insert(actions.begin(), 4, 0.0f);
    other.step(actions);
    for (int a = 0; a < 2; ++a) ASSERT_TRUE(row_of(one, a) == row_of(other, 2 + a)) << s;
  }
}

TEST(Agents, WhatDoesNotFitNamesItsLine) {
  const std::string a = agent("a", kBody) + "\n", b = agent("b", kBody);
  EXPECT_NE(error_of(a + a + kGoal + kTerms).find("t.env.xml:4:1:"), std::string::npos)
      << error_of(a + a + kGoal + kTerms);
  EXPECT_NE(error_of(a + a + kGoal + kTerms).find("'a' of another agent"), std::string::npos);
  EXPECT_NE(error_of(a + agent("b", std::string(kBody) + "<observe class='odometry'/>") + kGoal)
                .find("other observations than those of the first agent"),
            std::string::npos);
  EXPECT_NE(
      error_of(a + agent("b", "<action class='twist' vx='0 2' omega='-1 1'/><observe class='goal'/>") + kGoal)
          .find("another action than that of the first agent"),
      std::string::npos);
  EXPECT_NE(
      error_of(agent("a", std::string(kBody) + kTerms) + kGoal + kTerms).find("a second term is called"),
      std::string::npos);
}

}  // namespace
}  // namespace mvsim::agents_test
