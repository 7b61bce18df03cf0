// Observations, actions, rewards and ends one by one, in an arena without noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "sim/simulation.h"

namespace mvsim::terms_test {
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
  // 0.3 m take 1.4 s at full speed: a driving robot is never stuck
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

}  // namespace
}  // namespace mvsim::terms_test
