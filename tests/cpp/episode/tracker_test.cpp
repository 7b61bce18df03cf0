// Trackers: where their numbers lie, and which a task has. Tests of the terms show what each tracker measures
// (race_test.cpp, crop_test.cpp, movers_test.cpp, terms_test.cpp).
#include "task/track/tracker.h"

#include <gtest/gtest.h>

#include "episode/episode.h"
#include "task/task_test_util.h"
#include "task/track/race.h"

namespace mvsim::tracker_test {
namespace {

using namespace testing;

EnvSpec duel(const std::string& terms) {
  EnvSpec spec = shipped("race_duel");
  for (AgentSpec& agent : spec.agents) agent.terminations.clear();
  const EnvSpec with = from_text(
      "<mvsim_env world='w' control_period='1'><agent><action class='twist'/><observe "
      "class='scan'/></agent>" +
      terms + "</mvsim_env>");
  for (AgentSpec& agent : spec.agents) agent.terminations = with.agents[0].terminations;
  return spec;
}

TEST(Tracker, NumbersOfATaskComeBeforeThoseOfTheTermsOfAnAgent) {
  const auto task =
      compile_task(duel("<terminate class='stuck' distance='0.5'/><terminate class='contacts' max='3'/>"
                        "<terminate class='stuck' name='long' distance='2' within='20'/>"),
                   load_options());
  ASSERT_EQ(task->trackers.size(), 1u);
  constexpr size_t kRace = sizeof(RaceState) / sizeof(double), kStill = 3, kCount = 1;
  for (const AgentTask& agent : task->agents) {
    EXPECT_EQ(agent.trackers.size(), 4u);
    EXPECT_EQ(agent.trackers.front(), task->trackers.front().get());
    EXPECT_EQ(agent.memory_size, kRace + 2 * kStill + kCount);
  }
  EnvState env = make_env(*task, 3);
  start_episode(*task, env);
  std::vector<double> rewards(env.agents.size());
  step_period(
      *task, env, [] { return true; }, rewards);
  for (const AgentState& agent : env.agents) {
    const double* const first = agent.memory.data() + kRace;
    EXPECT_DOUBLE_EQ(first[2], task->control_period);  // both have stood still since the start
    EXPECT_EQ(first[3], 0);
    EXPECT_DOUBLE_EQ(first[6], task->control_period);
  }
}

TEST(Tracker, ATaskHasThoseThatItNeeds) {
  EXPECT_TRUE(compile_task(shipped("nav_arena"), load_options())->trackers.empty());
  // the people near, and the jerk
  EXPECT_EQ(compile_task(shipped("crowd"), load_options())->trackers.size(), 2u);
  EXPECT_EQ(compile_task(shipped("race"), load_options())->trackers.size(), 1u);
}

TEST(Tracker, ElementsAreKeywordsToo) {
  EnvSpec spec = shipped("greenhouse");
  ASSERT_EQ(spec.trackers.size(), 1u);
  apply_overrides(spec, {{{"crop_rows", "headland"}, "3"}});
  EXPECT_EQ(spec.trackers[0].params.find("headland")->text, "3");
  apply_overrides(spec, {{{"crop_rows"}, {}}});
  EXPECT_TRUE(spec.trackers.empty());
  apply_overrides(spec, {{{"crop_rows", "blocks"}, "row1_* row2_*"}});
  EXPECT_EQ(spec.trackers[0].params.tag, "crop_rows");
  EXPECT_EQ(spec.trackers[0].params.where.text(), "keyword crop_rows");
}

}  // namespace
}  // namespace mvsim::tracker_test
