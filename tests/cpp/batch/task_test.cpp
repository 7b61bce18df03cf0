// Soundness of tasks, over every registered environment: resets, progress, bounds; knobs that make them
// harder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "sim/simulation.h"
#include "task/track/race.h"

namespace mvsim::task_test {
namespace {

using testing::dict;
using testing::number;
using testing::on;
using testing::options;
using testing::Overrides;
using testing::shipped;
using testing::text;

class EveryEnvironment : public ::testing::TestWithParam<std::string> {
 public:
  EnvSpec spec() const { return load_env(GetParam(), testing::load_options()); }
  // Returns the spec without shared rewards: each agent is rewarded for itself alone.
  EnvSpec unshared() const {
    EnvSpec out = spec();
    for (AgentSpec& agent : out.agents)
      for (TermSpec& reward : agent.rewards)
        std::erase_if(reward.params.values, [](const NamedText& v) { return v.name == "share"; });
    return out;
  }
};

size_t progress_term(const Task& task) {
  for (size_t k = 0; k < task.agents[0].rewards.size(); ++k)
    if (const std::string& name = task.spec.agents[0].rewards[k].params.class_name;
        name == "progress" || name == "track_progress" || name == "row_progress" || name == "pose_progress" ||
        name == "dock_progress")
      return k;
  throw Error("no progress term");
}

// Returns the metres left to go, whose decrease is rewarded as progress. Along a line they are negative.
double way_left(const Task& task, const AgentState& agent) {
  for (const Tracker* const tracker : task.agents[0].trackers)
    if (const auto way = tracker->way(agent)) return -*way;
  return agent.field ? agent.now.path_distance : agent.now.goal_distance;
}

// Never in collision, never at the goal, never on unknown ground; start and goal as far from things as they
// should be.
void check_resets(const EnvSpec& spec, int count) {
  const auto task = compile_task(spec, testing::load_options());
  EnvState env = make_env(*task, 11);
  for (int i = 0; i < count; ++i) {
    start_episode(*task, env);
    for (size_t a = 0; a < task->agents.size(); ++a) {
      ASSERT_GT(clearance(env.simulation, task->agents[a].vehicle, 1), 0.01) << "episode " << i;
      for (const auto& t : task->agents[a].terminations)
        ASSERT_FALSE(t->holds(env, env.agents[a])) << "episode " << i;
      if (task->agents[a].needs_path) {
        ASSERT_TRUE(env.agents[a].field->reaches(env.agents[a].start));
      }
    }
    // a step of standing still: nothing ends
    std::vector<double> rewards(env.agents.size());
    std::fill(env.agents[0].action.begin(), env.agents[0].action.end(), 0.0);
    const double x0 = env.agents[0].now.pose.x;
    if (i % 50 == 0) {
      ASSERT_TRUE(step_period(
          *task, env, [] { return true; }, rewards));
      ASSERT_FALSE(env.agents[0].now.collided()) << "episode " << i << " at " << x0;
    }
  }
}

TEST_P(EveryEnvironment, ResetsAreSound) {
  check_resets(spec(), 2000);
}
TEST_P(EveryEnvironment, SlowResetsAreSound) {
  check_resets(spec(), 100000);
}

TEST_P(EveryEnvironment, ProgressTelescopes) {
  const auto task = compile_task(unshared(), testing::load_options());
  const size_t progress = progress_term(*task);
  EnvState env = make_env(*task, 5);
  std::vector<double> rewards(env.agents.size());
  int ends[2] = {0, 0};
  for (int episode = 0; episode < 25; ++episode) {
    start_episode(*task, env);
    const auto potential = [&] { return way_left(*task, env.agents[0]); };
    const double start = potential();
    for (int step = 0; env.agents[0].end == EpisodeEnd::kNone; ++step) {
      float action[2];
      testing::random_action(static_cast<uint64_t>(episode), static_cast<uint32_t>(step), action, 2);
      env.agents[0].action = {std::fabs(action[0]), action[1]};
      step_period(
          *task, env, [] { return true; }, rewards);
    }
    ++ends[env.agents[0].end == EpisodeEnd::kTerminated];
    EXPECT_NEAR(env.agents[0].reward_sums[progress],
                task->agents[0].rewards[progress].weight * (start - potential()), 1e-4);
  }
  EXPECT_GT(ends[1], 0);  // collisions were among them
}

TEST_P(EveryEnvironment, StaysInItsSpacesAndPaysNothingForIdling) {
  Batch batch(spec(), options(8, 2));
  batch.reset();
  std::vector<double> returns(8, 0.0);
  for (int s = 0; s < 300; ++s) {
    auto actions = testing::random_actions(batch, s);
    for (int i = 0; i < 4; ++i) {  // half of them spin on the spot or stand still
      const double range = batch.action_high()[0] - batch.action_low()[0];
      actions[2 * i] = static_cast<float>(-1 - 2 * batch.action_low()[0] / range);
      actions[2 * i + 1] = i < 2 ? 0.0f : 1.0f;
    }
    batch.step(actions);
    for (int i = 0; i < 4; ++i) returns[i] += batch.rewards()[i];
    for (size_t k = 0; k < batch.observations().size(); ++k) {
      const ObservationSpec& o = batch.observations()[k];
      if (o.dtype != DType::kFloat32) continue;  // every byte of a picture is in bounds
      const auto values = batch.observation(k);
      for (size_t j = 0; j < values.size(); ++j) {
        ASSERT_GE(values[j], o.low[j % o.low.size()]) << o.key;
        ASSERT_LE(values[j], o.high[j % o.low.size()]) << o.key;
      }
    }
  }
  for (int i = 0; i < 4; ++i) EXPECT_LT(returns[i], 0) << i;
}

// Circling the goal outside of its radius, and driving to and fro before it: progress that is paid back.
TEST_P(EveryEnvironment, PaysNothingForHangingAbout) {
  const auto task = compile_task(unshared(), testing::load_options());
  EnvState env = make_env(*task, 21);
  std::vector<double> rewards(env.agents.size());
  double best = -1e9;
  int episodes = 0;
  for (int i = 0; i < 400 && episodes < 12; ++i) {
    start_episode(*task, env);
    const double start = way_left(*task, env.agents[0]);
    double total = 0;
    bool quiet = true;
    for (int step = 0; env.agents[0].end == EpisodeEnd::kNone; ++step) {
      if (i % 2 == 0) {
        env.agents[0].action = {0.3, 1};  // a small circle
      } else {
        env.agents[0].action = {step / 10 % 2 ? 1.0 : -1.0, 0};
      }
      step_period(
          *task, env, [] { return true; }, rewards);
      total += rewards[0];
      quiet = quiet && !env.agents[0].now.collided() && !env.agents[0].success;
    }
    // on a track with walls there is no room to hang about in: a car that hits one has lost in any case
    if (!quiet && !find_tracker<RaceTracker>(task->trackers)) continue;
    // no more than the potential that was gained on the way
    const double potential = start - way_left(*task, env.agents[0]);
    total -= task->agents[0].rewards[progress_term(*task)].weight * potential;
    best = std::max(best, total);
    ++episodes;
  }
  EXPECT_GE(episodes, 4);
  EXPECT_LT(best, 0);
}

std::vector<std::string> all_paths() {
  std::vector<std::string> out;
  for (const EnvListing& e : list_envs(testing::kSource + "/envs")) out.push_back(e.path);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryEnvironment, ::testing::ValuesIn(all_paths()),
                         [](const auto& param) {
                           const std::string& path = param.param;
                           const size_t slash = path.rfind('/') + 1;
                           return path.substr(slash, path.find('.', slash) - slash);
                         });

// ------------------------------------------------------------ knobs

// Success rate of turning to the goal and driving at it.
double go_to_goal_success(const std::vector<std::pair<std::string, Overrides>>& knobs, int* count = nullptr) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict(knobs));
  Batch batch(spec, options(64, 2));
  batch.reset();
  const size_t k = testing::observation_index(batch, "goal");
  const InfoColumn& success = testing::info(batch, "success");
  int episodes = 0, won = 0;
  std::vector<float> actions(128);
  for (int s = 0; s < 450; ++s) {
    for (int i = 0; i < 64; ++i) {
      const float* goal = batch.observation(k).data() + 3 * i;
      const double angle = math::atan2(goal[2], goal[1]);
      actions[2 * i] = std::fabs(angle) < 0.5 ? 1.0f : -1.0f;
      actions[2 * i + 1] = static_cast<float>(std::clamp(1.5 * angle, -1.0, 1.0));
    }
    batch.step(actions);
    for (int i = 0; i < 64; ++i) {
      if (!batch.finished()[i]) continue;
      ++episodes;
      won += success.values[i] != 0;
    }
  }
  if (count) *count = episodes;
  return static_cast<double>(won) / episodes;
}

TEST(Knobs, MoreAndLargerObstaclesAreHarder) {
  int episodes = 0;
  const double none = go_to_goal_success({{"obstacles", number(0)}}, &episodes);
  const double few = go_to_goal_success({{"obstacles", number(4)}});
  const double usual = go_to_goal_success({});
  const double many = go_to_goal_success({{"obstacles", number(16)}});
  EXPECT_GT(episodes, 300);
  EXPECT_GT(none, 0.99);
  EXPECT_GT(none, few + 0.1);
  EXPECT_GT(few, usual + 0.05);
  EXPECT_GT(usual, many + 0.05);
  EXPECT_NEAR(usual, 0.57, 0.1);

  const double small = go_to_goal_success({{"radius", text("0.05 0.1")}});
  const double large = go_to_goal_success({{"radius", text("0.3 0.4")}});
  EXPECT_GT(small, usual + 0.05);
  EXPECT_GT(usual, large + 0.05);
}

TEST(Knobs, LessClearanceIsHarder) {
  const auto with = [](double clearance) {
    return go_to_goal_success({{"clearance", number(clearance)}, {"obstacles", number(12)}});
  };
  EXPECT_GT(with(0.5), with(0.12) + 0.02);
}

}  // namespace
}  // namespace mvsim::task_test
