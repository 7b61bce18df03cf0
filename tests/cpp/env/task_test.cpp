// Soundness of tasks, over every registered environment: resets, progress, bounds; and the terms one by one.
#include "env/episode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env/distribution.h"
#include "env/env_test_util.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

using testing::dict;
using testing::number;
using testing::off;
using testing::on;
using testing::options;
using testing::Overrides;
using testing::shipped;
using testing::text;
using testing::weight;

class EveryEnvironment : public ::testing::TestWithParam<std::string> {
 public:
  EnvSpec spec() const { return load_env(GetParam(), testing::load_options()); }
  // Of several agents each is paid for itself alone.
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
    if (task.spec.agents[0].rewards[k].params.class_name == "progress") return k;
  throw Error("no progress term");
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
    const auto potential = [&] {
      return env.agents[0].field ? env.agents[0].now.path_distance : env.agents[0].now.goal_distance;
    };
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
    if (!quiet) continue;
    // no more than the potential that was gained on the way
    const double potential =
        env.agents[0].field
            ? env.agents[0].field->distance(env.agents[0].start) - env.agents[0].now.path_distance
            : norm(env.agents[0].goal - env.agents[0].start) - env.agents[0].now.goal_distance;
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

// ------------------------------------------------------------ terms, in an arena without noise

EnvSpec arena(const std::vector<std::pair<std::string, Overrides>>& overrides) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"reset", dict({{"spawn", dict({{"pose", text("-1 0.5 30")}})},
                                              {"goal", dict({{"position", text("2 1")}})}})},
                              {"obstacles", number(0)}}));
  apply_overrides(spec, dict(overrides));
  return spec;
}

std::vector<float> values_of(Batch& batch, const std::string& key) {
  const auto values = batch.observation(testing::observation_index(batch, key));
  return {values.begin(), values.end()};
}

TEST(Terms, GoalIsInTheRobotsFrame) {
  Batch batch(arena({{"observe", dict({{"goal", dict({{"max_distance", number(2.5)}})}})}}), options(1));
  batch.reset();
  const auto goal = values_of(batch, "goal");
  const double angle = std::atan2(0.5, 3) - 30 * kDegree;
  EXPECT_FLOAT_EQ(goal[0], 2.5f);  // clipped
  EXPECT_NEAR(goal[1], std::cos(angle), 1e-6);
  EXPECT_NEAR(goal[2], std::sin(angle), 1e-6);
}

TEST(Terms, SectorsAreMinimaOfTheirBeams) {
  EnvSpec spec = arena({{"observe", dict({{"scan", dict({{"sectors", number(180)}})}})}});
  apply_overrides(
      spec, dict({{"randomize",
                   dict({{"vehicle:robot/sensor:lidar/range_std_noise", dict({{"value", number(0)}})}})}}));
  EnvSpec pooled = spec;
  apply_overrides(pooled, dict({{"observe", dict({{"scan", dict({{"sectors", number(36)}})}})}}));
  Batch fine(spec, options(1)), coarse(pooled, options(1));
  fine.reset();
  coarse.reset();
  const auto beams = values_of(fine, "scan"), sectors = values_of(coarse, "scan");
  ASSERT_EQ(beams.size(), 180u);
  for (int s = 0; s < 36; ++s)
    EXPECT_EQ(sectors[s], *std::min_element(beams.begin() + 5 * s, beams.begin() + 5 * s + 5));
  // by geometry: the beam nearest to -30 degrees of the robot sees the wall at x = 3 straight ahead
  const double lidar_x = -1 - 0.032 * std::cos(30 * kDegree);
  const double angle = -179 * kDegree + 358 * kDegree / 179 * 74.5 + 30 * kDegree;
  EXPECT_NEAR(beams[75], std::min(3.5, (3 - lidar_x) / std::cos(angle)), 0.02);
}

TEST(Terms, HistoryKeepsTheLatestFramesInOrder) {
  Batch stacked(arena({{"observe", dict({{"velocity", dict({{"history", number(3)}})}})}}), options(1));
  Batch plain(arena({}), options(1));
  stacked.reset();
  plain.reset();
  std::vector<std::vector<float>> seen(3, values_of(plain, "velocity"));
  for (int s = 0; s < 8; ++s) {
    const std::vector<float> action{1, 0.4f};
    stacked.step(action);
    plain.step(action);
    seen.push_back(values_of(plain, "velocity"));
    const auto found = values_of(stacked, "velocity");
    ASSERT_EQ(found.size(), 6u);
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(found[i], seen[seen.size() - 3 + i / 2][i % 2]);
  }
}

TEST(Terms, NormalizedObservationsSpanTheirRange) {
  const auto normalize = dict({{"normalize", text("true")}});
  Batch batch(arena({{"observe", dict({{"scan", normalize}, {"velocity", normalize}, {"goal", normalize}})}}),
              options(1));
  Batch plain(arena({}), options(1));
  batch.reset();
  plain.reset();
  batch.step(std::vector<float>{1, 1});
  plain.step(std::vector<float>{1, 1});
  const auto scan = values_of(batch, "scan"), raw = values_of(plain, "scan");
  for (size_t i = 0; i < scan.size(); ++i) EXPECT_NEAR(scan[i], raw[i] / 3.5, 1e-6);
  EXPECT_NEAR(values_of(batch, "velocity")[0], values_of(plain, "velocity")[0] / 0.33, 1e-5);
  EXPECT_EQ(batch.observations()[0].high[0], 1);
  EXPECT_EQ(batch.observations()[2].low[0], -1);
}

TEST(Terms, LastActionAndOdometryAreSeen) {
  Batch batch(arena({{"observe", dict({{"last_action", on()}, {"odometry", on()}})}}), options(1));
  batch.reset();
  EXPECT_EQ(values_of(batch, "last_action"), (std::vector<float>{0, 0}));
  for (int i = 0; i < 10; ++i) batch.step(std::vector<float>{1, 0.25f});
  EXPECT_EQ(values_of(batch, "last_action"), (std::vector<float>{1, 0.25f}));
  const auto odometry = values_of(batch, "odometry");
  EXPECT_NEAR(odometry[2] * odometry[2] + odometry[3] * odometry[3], 1, 1e-6);
  EXPECT_GT(std::hypot(odometry[0], odometry[1]), 0.15);
}

TEST(Terms, ActionsScaleToTheirBounds) {
  Batch batch(arena({{"action", dict({{"vx", text("-0.1 0.2")}, {"omega", text("-1 1.5")}})}}), options(1));
  batch.reset();
  for (int i = 0; i < 12; ++i) batch.step(std::vector<float>{1, 0});
  const auto velocity = values_of(batch, "velocity");
  EXPECT_NEAR(velocity[0], 0.2, 0.01);
  EXPECT_NEAR(velocity[1], 0.25, 0.05);
}

TEST(Terms, PositiveWheelTorqueDrivesForward) {
  EnvSpec spec =
      arena({{"action", dict({{"class", text("wheel_torque")}, {"torque", number(0.02)}})},
             {"reward", dict({{"turn", off()}})},
             {"observe", dict({{"velocity", dict({{"vx_max", number(2)}, {"omega_max", number(5)}})}})}});
  // the shipped world has a PID controller: refused by name
  try {
    Batch batch(spec, options(1));
    FAIL();
  } catch (const WorldFileError& e) {
    EXPECT_NE(std::string(e.what()).find("twist_pid"), std::string::npos);
  }
  const std::string folder = ::testing::TempDir() + "/mvsim_torque";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/raw.world.xml") << R"XML(<mvsim_world version="1.0">
    <include file=")XML" + testing::kSource + R"XML(/worlds/definitions/turtlebot3_burger.vehicle.xml"
             default_sensors="true" controller="raw"/>
    <vehicle name="robot" class="turtlebot3_burger"><init_pose>0 0 0</init_pose></vehicle>
    <simul_timestep>0.005</simul_timestep></mvsim_world>)XML";
  apply_overrides(spec, dict({{"world", text(folder + "/raw.world.xml")},
                              {"reset", dict({{"place", off()}})},
                              {"observe", dict({{"scan", dict({{"sensor", off()}})}})}}));
  Batch batch(spec, options(1));
  EXPECT_EQ(batch.action_size(), 2u);
  batch.reset();
  for (int i = 0; i < 5; ++i) batch.step(std::vector<float>{1, 1});
  EXPECT_GT(values_of(batch, "velocity")[0], 0.05);
  EXPECT_NEAR(values_of(batch, "velocity")[1], 0, 0.01);
}

TEST(Terms, RewardsAddUpToTheirSumsInInfo) {
  Batch batch(
      arena({{"reward",
              dict({{"heading", weight(0.3)}, {"speed", weight(0.2)}, {"action_rate", weight(-0.1)}})},
             {"time_limit", number(3)}}),
      options(1));
  batch.reset();
  double sum = 0;
  for (int i = 0; i < 15; ++i) {
    batch.step(testing::random_actions(batch, i));
    sum += batch.rewards()[0];
  }
  ASSERT_TRUE(batch.truncated()[0]);
  double terms = 0;
  for (const InfoColumn& c : batch.infos()) {
    if (c.key.starts_with("reward/")) terms += c.values[0];
    EXPECT_EQ(c.mask[0], 1) << c.key;
  }
  EXPECT_NEAR(terms, sum, 1e-12);
  EXPECT_NEAR(testing::info(batch, "time").values[0], 3, 1e-9);
  EXPECT_NEAR(testing::info(batch, "reward/time").values[0], -0.15, 1e-12);
}

TEST(Terms, DrivingIntoTheGoalSucceedsAndIntoAWallCollides) {
  BatchOptions with_spl = options(1);
  with_spl.spl = true;
  Batch batch(arena({{"reset", dict({{"spawn", dict({{"pose", text("0 1 0")}})}})}}), with_spl);
  batch.reset();
  for (int i = 0; i < 100 && !batch.finished()[0]; ++i) batch.step(std::vector<float>{1, 0});
  ASSERT_TRUE(batch.terminated()[0]);
  EXPECT_EQ(testing::info(batch, "success").values[0], 1);
  EXPECT_EQ(testing::info(batch, "collision").values[0], 0);
  EXPECT_EQ(testing::info(batch, "reward/goal").values[0], 10);
  EXPECT_NEAR(testing::info(batch, "path_length").values[0], 1.75, 0.06);
  EXPECT_NEAR(testing::info(batch, "optimal_length").values[0], 2, 1e-3);
  EXPECT_NEAR(testing::info(batch, "spl").values[0], 1, 1e-3);

  Batch wall(arena({{"reset", dict({{"spawn", dict({{"pose", text("2 -1 0")}})}})}}), with_spl);
  wall.reset();
  for (int i = 0; i < 100 && !wall.finished()[0]; ++i) wall.step(std::vector<float>{1, 0});
  ASSERT_TRUE(wall.terminated()[0]);
  EXPECT_EQ(testing::info(wall, "success").values[0], 0);
  EXPECT_EQ(testing::info(wall, "collision").values[0], 1);
  EXPECT_EQ(testing::info(wall, "reward/collision").values[0], -10);
  EXPECT_EQ(testing::info(wall, "spl").values[0], 0);
  EXPECT_EQ(testing::info(wall, "optimal_length").mask[0], 0);
  EXPECT_LT(testing::info(wall, "min_clearance").values[0], 0.02);
}

TEST(Terms, ObstaclesKeepTheirDistances) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"gap", number(0.2)}, {"radius", text("0.15 0.25")}}));
  const auto task = compile_task(spec, testing::load_options());
  EnvState env = make_env(*task, 3);
  double smallest = 1, largest = 0;
  for (int i = 0; i < 200; ++i) {
    start_episode(*task, env);
    std::vector<std::pair<Vec2, double>> discs;
    for (size_t b = 0; b < env.simulation.model().blocks.size(); ++b) {
      const BlockModel& block = env.simulation.model().blocks[b];
      if (block.is_wall) continue;
      const Pose3 p = block_pose(env.simulation, b);
      const double r = env.simulation.state().params[block.params + kBlockScale] * block.shape.radius;
      smallest = std::min(smallest, r);
      largest = std::max(largest, r);
      EXPECT_LE(std::max(std::fabs(p.x), std::fabs(p.y)) + r, 2.5 + 1e-6);
      EXPECT_GE(norm(env.agents[0].start - Vec2{p.x, p.y}),
                0.3 + r * 0.92);  // an octagon lies within its circle
      EXPECT_GE(norm(env.agents[0].goal - Vec2{p.x, p.y}), 0.3 + r * 0.92);
      for (const auto& [center, radius] : discs)
        EXPECT_GE(norm(center - Vec2{p.x, p.y}), 0.92 * (r + radius) + 0.2 - 1e-6);
      discs.emplace_back(Vec2{p.x, p.y}, r);
    }
    EXPECT_EQ(discs.size(), 8u);
    EXPECT_GT(norm(env.agents[0].goal - env.agents[0].start), 1.5);
  }
  EXPECT_NEAR(smallest, 0.15, 0.005);
  EXPECT_NEAR(largest, 0.25, 0.005);
}

TEST(Terms, NavMapGoalsAreSpreadOverTheirRangeOfPathLengths) {
  const auto task = compile_task(shipped("nav_map"), testing::load_options());
  EnvState env = make_env(*task, 9);
  int bins[4] = {};
  constexpr int kEpisodes = 600;
  for (int i = 0; i < kEpisodes; ++i) {
    start_episode(*task, env);
    ASSERT_GE(env.agents[0].now.path_distance, 3 - 1e-6);
    ASSERT_LE(env.agents[0].now.path_distance, 15 + 1e-6);
    ++bins[std::min(3, static_cast<int>((env.agents[0].now.path_distance - 3) / 3))];
  }
  for (int n : bins) EXPECT_NEAR(n, kEpisodes / 4.0, 60);
}

TEST(Terms, ASensorsOwnTimingHoldsItsReading) {
  Batch batch(arena({{"control_period", number(0.1)},
                     {"observe", dict({{"scan", dict({{"timing", text("sensor")}})}})}}),
              options(1));
  batch.reset();
  const auto nothing = values_of(batch, "scan");
  EXPECT_EQ(nothing, std::vector<float>(36, 3.5f));  // before the first reading
  int changes = 0;
  auto last = nothing;
  for (int i = 0; i < 20; ++i) {  // ten periods of the sensor
    batch.step(std::vector<float>{0.2f, 0.1f});
    const auto now = values_of(batch, "scan");
    changes += now != last;
    last = now;
  }
  EXPECT_GE(changes, 9);
  EXPECT_LE(changes, 10);
}

TEST(Terms, LeavingTheMapEndsAnEpisode) {
  Batch batch(arena({{"terminate", dict({{"off_map", dict({{"margin", number(-1)}})}, {"collision", off()}})},
                     {"reset", dict({{"spawn", dict({{"pose", text("1.5 -1.5 0")}})}})}}),
              options(1));
  batch.reset();
  for (int i = 0; i < 60 && !batch.finished()[0]; ++i) batch.step(std::vector<float>{1, 0});
  EXPECT_TRUE(batch.terminated()[0]);
  EXPECT_EQ(testing::info(batch, "success").values[0], 0);
  EXPECT_NEAR(vehicle_pose(batch.simulation(0), 0).x, 2.1, 0.06);
}

TEST(Terms, WhoStaysWhereHeWasIsStuck) {
  const EnvSpec spec =
      arena({{"terminate", dict({{"stuck", dict({{"distance", number(0.3)}, {"within", number(2)}})}})},
             {"reward", dict({{"failure", weight(-5)}})}});
  Batch still(spec, options(1));
  still.reset();
  int steps = 0;
  for (; steps < 100 && !still.finished()[0]; ++steps) still.step(std::vector<float>{-1, 0});
  EXPECT_EQ(steps, 10);  // of 0.2 s
  EXPECT_TRUE(still.terminated()[0]);
  EXPECT_EQ(testing::info(still, "success").values[0], 0);
  EXPECT_EQ(testing::info(still, "reward/failure").values[0], -5);
  EXPECT_EQ(testing::info(still, "terminated/stuck").values[0], 1);
  EXPECT_EQ(testing::info(still, "terminated/collision").values[0], 0);
  // turning on the spot is no way to get away
  Batch turning(spec, options(1));
  turning.reset();
  for (steps = 0; steps < 100 && !turning.finished()[0]; ++steps) turning.step(std::vector<float>{-1, 1});
  EXPECT_EQ(steps, 10);
  // 0.3 m take 1.4 s at full speed: who drives is never stuck
  Batch moving(spec, options(1));
  moving.reset();
  for (steps = 0; steps < 20 && !moving.finished()[0]; ++steps) moving.step(std::vector<float>{1, 0.3f});
  EXPECT_EQ(steps, 20);
}

TEST(Terms, LateralVelocityIsSeenOnRequest) {
  Batch batch(arena({{"observe", dict({{"velocity", dict({{"lateral", text("true")}})}})}}), options(1));
  batch.reset();
  for (int i = 0; i < 8; ++i) batch.step(std::vector<float>{1, 1});
  const auto velocity = values_of(batch, "velocity");
  ASSERT_EQ(velocity.size(), 3u);
  const Twist2 twist = vehicle_twist(batch.simulation(0), 0);
  EXPECT_EQ(velocity[0], static_cast<float>(twist.vx));
  EXPECT_EQ(velocity[1], static_cast<float>(twist.vy));
  EXPECT_EQ(velocity[2], static_cast<float>(twist.omega));
}

// A map of a user's own: two rooms and a door between them, 8 x 4 m.
TEST(Terms, AMapOfOnesOwnIsPlannedIn) {
  const std::string folder = ::testing::TempDir() + "/mvsim_map";
  std::filesystem::create_directories(folder);
  {
    std::ofstream image(folder + "/rooms.pgm", std::ios::binary);
    image << "P5\n80 40\n255\n";
    for (int row = 0; row < 40; ++row) {
      for (int column = 0; column < 80; ++column) {
        const bool border = row == 0 || row == 39 || column == 0 || column == 79;
        const bool wall = column >= 39 && column <= 40 && row < 26;  // the door is at the lower end
        image.put(static_cast<char>(border || wall ? 0 : 254));
      }
    }
    std::ofstream(folder + "/rooms.yaml") << "image: rooms.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n"
                                             "negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n";
  }
  EnvSpec spec = shipped("nav_map");
  apply_overrides(spec, dict({{"map", text(folder + "/rooms.yaml")},
                              {"reset", dict({{"spawn", dict({{"pose", text("2 3.2 0")}})},
                                              {"goal", dict({{"position", text("6 3.2")}})}})}}));
  Batch batch(spec, options(1));
  batch.reset();
  // over the door's upper corners at (3.9, 1.4) and (4.1, 1.4), less than a robot's radius away
  const double shortest = norm(Vec2{1.9, 1.8}) + 0.2 + norm(Vec2{1.9, 1.8});
  const auto task = compile_task(spec, testing::load_options());
  EnvState env = make_env(*task, 0);
  start_episode(*task, env);
  EXPECT_GT(env.agents[0].now.path_distance, shortest);
  EXPECT_LT(env.agents[0].now.path_distance, shortest + 0.8);  // in cells of 0.2 m
  const auto waypoint = values_of(batch, "waypoint");
  EXPECT_NEAR(std::hypot(waypoint[0], waypoint[1]), 2, 1e-5);
  EXPECT_LT(waypoint[1], -1);  // down to the door, not through the wall
  EXPECT_GT(waypoint[0], 0.8);

  EnvSpec missing = shipped("nav_map");
  apply_overrides(missing, dict({{"map", text(folder + "/none.yaml")}}));
  EXPECT_THROW(compile_task(missing, testing::load_options()), WorldFileError);
}

// ------------------------------------------------------------ randomisation

TEST(Randomize, DrawsStayInTheirDistributions) {
  const auto draws = [](const char* form) {
    const Distribution d(NamedText{"value", form, {}});
    RandomStream random(1, 0, StreamPurpose::kRandomize);
    std::vector<double> out;
    for (int i = 0; i < 20000; ++i) out.push_back(d.draw(random));
    return out;
  };
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  const auto uniform = draws(" uniform( 2 , 4 ) ");
  EXPECT_NEAR(mean(uniform), 3, 0.02);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), 2);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 4);
  const auto normal = draws("normal(5, 2)");
  EXPECT_NEAR(mean(normal), 5, 0.06);
  const auto logs = draws("loguniform(0.01, 100)");
  EXPECT_NEAR(std::count_if(logs.begin(), logs.end(), [](double x) { return x < 1; }) / 20000.0, 0.5, 0.02);
  const auto choice = draws("choice(1, 7, 9)");
  EXPECT_NEAR(std::count(choice.begin(), choice.end(), 7.0) / 20000.0, 1 / 3.0, 0.02);
  EXPECT_EQ(draws("0.5")[3], 0.5);
}

TEST(Randomize, ChangesEachEpisodeAndIsSeeded) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(
      spec, dict({{"randomize",
                   dict({{"vehicle:robot/friction/mu", dict({{"scale", text("uniform(0.5, 0.9)")}})},
                         {"vehicle:robot/controller/K*", dict({{"scale", text("uniform(0.8, 1.2)")}})}})}}));
  const auto task = compile_task(spec, testing::load_options());
  const size_t mu = task->models[0]->find_params("vehicle:robot/friction/mu").at(0);
  const double nominal = task->models[0]->params[mu].nominal;
  EnvState a = make_env(*task, 4), b = make_env(*task, 4), c = make_env(*task, 5);
  std::vector<double> drawn;
  for (int i = 0; i < 20; ++i) {
    for (EnvState* env : {&a, &b, &c}) start_episode(*task, *env);
    EXPECT_EQ(a.simulation.state().params[mu], b.simulation.state().params[mu]);
    EXPECT_NE(a.simulation.state().params[mu], c.simulation.state().params[mu]);
    drawn.push_back(a.simulation.state().params[mu]);
    EXPECT_GE(drawn.back(), 0.5 * nominal);
    EXPECT_LE(drawn.back(), 0.9 * nominal);
  }
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

TEST(Randomize, NothingToChangeIsAnErrorUnlessOptional) {
  const auto with = [](const std::string& optional) {
    EnvSpec spec = shipped("nav_arena");
    apply_overrides(spec,
                    dict({{"randomize", dict({{"region:ice*/x", dict({{"value", text("uniform(0, 1)")},
                                                                      {"optional", text(optional)}})}})}}));
    return spec;
  };
  EXPECT_THROW(compile_task(with("false"), testing::load_options()), WorldFileError);
  EXPECT_NO_THROW(compile_task(with("true"), testing::load_options()));
}

TEST(Randomize, IcePatchesMoveAndMayBeNone) {
  EnvSpec spec = shipped("ice_drive");
  const auto task = compile_task(spec, testing::load_options());
  EXPECT_EQ(task->models[0]->find_params("region:ice*/x").size(), 8u);
  apply_overrides(spec, dict({{"patches", number(0)}}));
  EXPECT_TRUE(compile_task(spec, testing::load_options())->models[0]->find_params("region:*").empty());
}

TEST(Bounds, OfAnOpenWorldAreItsGround) {
  const auto task = compile_task(shipped("off_road"), testing::load_options());
  const Rect& bounds = task->models[0]->bounds;
  EXPECT_EQ(bounds.x_min, -40);
  EXPECT_EQ(bounds.y_max, 40);
}

TEST(Variants, AreWorldsOfTheirOwnSeeds) {
  const std::string folder = ::testing::TempDir() + "/mvsim_variants";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/v.world.xml") << R"XML(<mvsim_world version="1.0">
    <include file=")XML" + testing::kSource + R"XML(/worlds/definitions/turtlebot3_burger.vehicle.xml"
             controller="twist_pid" KP="0.1" KI="4" max_torque="0.12"/>
    <vehicle name="robot" class="turtlebot3_burger"><init_pose>0 0 0</init_pose></vehicle>
    <simul_timestep>0.02</simul_timestep>
    <block name="wall"><static>true</static><init_pose>$f{1 + rand()} 0 0</init_pose>
      <geometry type="box" lx="0.1" ly="1" lz="1"/></block></mvsim_world>)XML";
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"world", text(folder + "/v.world.xml")},
                              {"variants", number(5)},
                              {"observe", dict({{"scan", dict({{"sensor", off()}})}})},
                              {"reset", dict({{"place", off()},
                                              {"spawn", dict({{"area", text("-3 0 -3 3")}})},
                                              {"goal", dict({{"area", text("-3 0 -3 3")}})}})}}));
  const auto task = compile_task(spec, testing::load_options());
  ASSERT_EQ(task->models.size(), 5u);
  EnvState env = make_env(*task, 1);
  std::vector<int> seen(5, 0);
  for (int i = 0; i < 100; ++i) {
    start_episode(*task, env);
    ++seen[env.variant];
    EXPECT_EQ(&env.simulation.model(), task->models[env.variant].get());
  }
  for (int n : seen) EXPECT_GT(n, 5);
  const auto x = [&](int k) { return task->models[k]->blocks[0].initial_pose.x; };
  EXPECT_NE(x(0), x(1));
  EXPECT_NE(x(1), x(2));
}

}  // namespace
}  // namespace mvsim
