// Races: the centreline, the order of the cars, and the terms that use them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "sim/simulation.h"
#include "task/plan/centreline.h"
#include "task/track/race.h"

namespace mvsim::race_test {
namespace {

using namespace testing;

// A square of 10 m that is driven counter-clockwise, two robots on its first side, a wall between them and
// the last side.
constexpr const char* kSquare = "# x y\n0 0\n10 0\n10 10\n0 10\n";
constexpr const char* kWorld = R"(<mvsim_world>
  <vehicle name="a"><init_pose>2 0 0</init_pose><dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="b"><init_pose>5 2 90</init_pose><dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <walls><wallThickness>0.1</wallThickness><shape><pt>3 4</pt><pt>7 4</pt></shape></walls>
  </mvsim_world>)";
constexpr const char* kAgents = R"(<agent vehicles="*"><action class="twist" vx="-2 2" omega="-1 1"/>
  <observe class="centreline" points="2" spacing="3"/><observe class="opponent" max_distance="8"/></agent>)";
constexpr const char* kTerms = R"(<reward class="track_progress"/><reward class="rivals_progress"/>
  <reward class="lap"/><reward class="overtake" by="1"/><reward class="rear_contact"/>
  <terminate class="laps" count="2"/><terminate class="backwards" distance="1.5"/>)";
enum { kTrackProgress, kRivalsProgress, kLap, kOvertake, kRearContact };
enum { kLaps, kBackwards };

EnvSpec env_of(const std::string& content, const std::string& attributes = "centreline='square.csv'") {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_race_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "race.world.xml") << kWorld;
  std::ofstream(folder / "square.csv") << kSquare;
  std::ofstream(folder / "short.csv") << "0 0\n1 1\n";
  std::ofstream(folder / "twice.csv") << "0 0\n0 0\n1 1\n0 1\n";
  return load_env_text("<mvsim_env id='r' world='race.world.xml' control_period='0.1' " + attributes + ">\n" +
                           content + "</mvsim_env>",
                       (folder / "r.env.xml").string(), load_options());
}

std::string error_of(const std::string& content, const std::string& attributes = "centreline='square.csv'") {
  try {
    (void)compile_task(env_of(content, attributes), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

// A world that has just begun, whose states a test then sets by hand.
struct Race {
  explicit Race(const std::string& content = std::string(kAgents) + kTerms)
      : task(compile_task(env_of(content), load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
  }
  double reward(size_t agent, size_t term) const {
    return task->agents[agent].rewards[term].term->value(env, env.agents[agent]);
  }
  bool holds(size_t agent, size_t term) const {
    return task->agents[agent].terminations[term]->holds(env, env.agents[agent]);
  }
  const RaceTracker& tracker() const { return *find_tracker<RaceTracker>(task->trackers); }
  RaceState& of(size_t agent) { return tracker().state(env.agents[agent]); }
  void step(ActionValues a, ActionValues b) {
    env.agents[0].action = a;
    env.agents[1].action = b;
    std::vector<double> rewards(2);
    step_period(
        *task, env, [] { return true; }, rewards);
  }

  std::unique_ptr<Task> task;
  EnvState env;
};

TEST(Centreline, MeasuresAlongItself) {
  const Centreline line({{0, 0}, {10, 0}, {10, 10}, {0, 10}});
  EXPECT_EQ(line.length(), 40);
  EXPECT_NEAR(line.nearest({3, -0.5}), 3, 1e-12);
  EXPECT_NEAR(line.nearest({12, 4}), 14, 1e-12);
  EXPECT_NEAR(line.nearest({-1, 1}), 39, 1e-12);
  EXPECT_NEAR(line.nearest({-1, -1}), 0, 1e-12);  // a corner
  EXPECT_NEAR(line.nearest({1, -0.2}, 79), 81, 1e-12);
  EXPECT_NEAR(line.nearest({0, 2}, 3), -2, 1e-12);
  const Pose2 ahead = line.at(55), behind = line.at(-5);
  EXPECT_NEAR(ahead.x, 10, 1e-12);
  EXPECT_NEAR(ahead.y, 5, 1e-12);
  EXPECT_NEAR(ahead.yaw, kPi / 2, 1e-12);
  EXPECT_NEAR(behind.y, 5, 1e-12);
  EXPECT_NEAR(behind.yaw, -kPi / 2, 1e-12);
}

// Returns the nearest place on the line by trying every piece.
double nearest_of_all(const Centreline& line, Vec2 point) {
  double best = 1e300, along = 0, start = 0;
  const std::vector<Vec2>& corners = line.points();
  for (size_t i = 0; i < corners.size(); ++i) {
    const Vec2 a = corners[i], way = corners[(i + 1) % corners.size()] - a;
    const double length = norm(way);
    const double on = std::clamp(dot(point - a, way) / length, 0.0, length);
    const double distance = norm(point - a - on / length * way);
    if (distance < best) best = distance, along = start + on;
    start += length;
  }
  return along;
}

TEST(Centreline, TheNearestPlaceIsThatOfAllPieces) {
  RandomStream random(9, 0, StreamPurpose::kSpawn);
  for (const size_t count : {3, 8, 9, 40, 115}) {
    std::vector<Vec2> corners;
    for (size_t i = 0; i < count; ++i) {
      const SinCos at = sin_cos(2 * kPi * static_cast<double>(i) / static_cast<double>(count));
      const double radius = random.uniform(6, 10);
      corners.push_back({radius * at.cos, radius * at.sin});
    }
    const Centreline line(corners);
    for (int i = 0; i < 300; ++i) {
      const Vec2 point{random.uniform(-12, 12), random.uniform(-12, 12)};
      const double expected = nearest_of_all(line, point);
      EXPECT_NEAR(std::remainder(line.nearest(point) - expected, line.length()), 0, 1e-9);
      const double hint = random.uniform(-3, 3) * line.length(), found = line.nearest(point, hint);
      EXPECT_NEAR(std::remainder(found - expected, line.length()), 0, 1e-9);
      EXPECT_LE(std::fabs(found - hint), line.length() / 2 + 1e-9);
      const Pose2 place = line.at(hint);
      EXPECT_NEAR(nearest_of_all(line, {place.x, place.y}),
                  hint - line.length() * std::floor(hint / line.length()), 1e-6);
    }
  }
}

TEST(Centreline, MistakesAreNamed) {
  const std::string agents = kAgents;
  EXPECT_NE(error_of(agents, "centreline='short.csv'").find("found 2 points, expected 3"), std::string::npos);
  EXPECT_NE(error_of(agents, "centreline='twice.csv'").find("twice.csv:2:1: found the point of line 1 again"),
            std::string::npos);
  EXPECT_NE(error_of(agents, "centreline='none.csv'").find("none.csv' does not exist"), std::string::npos);
  EXPECT_NE(error_of(agents, "").find("expected the attribute 'centreline' of <mvsim_env>"),
            std::string::npos);
  const std::string alone = R"(<agent vehicle="a"><action class="twist" vx="0 1" omega="-1 1"/>
      <observe class="velocity"/></agent>)";
  EXPECT_NE(error_of(alone + "<reward class='overtake'/>").find("expected several agents"),
            std::string::npos);
  EXPECT_NE(error_of(alone + "<reward class='steer_rate'/>").find("a steering angle"), std::string::npos);
  EXPECT_NE(error_of(alone + "<reset><spawn/><line_up/></reset>").find("<spawn>: found beside <line_up>"),
            std::string::npos);
  EXPECT_NE(error_of(agents + "<reset><line_up gap='30'/></reset>").find("line_up>, gap"), std::string::npos);
  EXPECT_NE(error_of(agents + "<reset><line_up gap='1 2' clearance='9'/></reset>"), "");
  EXPECT_EQ(error_of(agents + kTerms), "no error");
}

TEST(Race, ProgressIsThatOfEachAndOfItsRivals) {
  Race race;
  EXPECT_NEAR(race.of(0).along, 2, 1e-6);
  EXPECT_NEAR(race.of(1).along, 5, 1e-6);
  double own = 0, rivals = 0;
  for (int i = 0; i < 10; ++i) {
    race.step({0.5, 0}, {-0.25, 0});  // 1 m/s along the line, 0.5 m/s beside it
    own += race.reward(0, kTrackProgress);
    rivals += race.reward(1, kRivalsProgress);
    EXPECT_NEAR(race.reward(0, kRivalsProgress), 0, 1e-6);
  }
  const double moved = race.env.agents[0].now.pose.x - 2;
  EXPECT_NEAR(moved, 1, 0.01);  // a period of which the controller is late
  EXPECT_NEAR(own, moved, 1e-6);
  EXPECT_NEAR(rivals, moved, 1e-6);
  EXPECT_NEAR(race.of(0).along - race.of(0).start, moved, 1e-6);
}

// Laps count from the start line, which is at the foremost car. A car that starts behind it first drives to
// the line.
TEST(Race, LapsBeginAtTheForemost) {
  Race race;
  RaceState& rear = race.of(0);
  EXPECT_NEAR(rear.line, 5, 1e-6);
  const auto laps_between = [&](double from, double to) {
    rear.farthest_before = rear.line + from;
    rear.farthest = rear.line + to;
    return race.reward(0, kLap);
  };
  EXPECT_EQ(laps_between(-0.1, 0.1), 0);
  EXPECT_EQ(laps_between(39.9, 40.1), 1);
  EXPECT_FALSE(race.holds(0, kLaps));
  EXPECT_EQ(laps_between(40.1, 40.1), 0);  // back over the line and over it again: no farther
  EXPECT_EQ(laps_between(79.9, 80.1), 1);
  EXPECT_TRUE(race.holds(0, kLaps));
}

TEST(Race, BackwardsIsBehindTheFarthestPlace) {
  Race race;
  race.of(0).farthest = race.of(0).along + 1.4;
  EXPECT_FALSE(race.holds(0, kBackwards));
  race.of(0).farthest += 0.2;
  EXPECT_TRUE(race.holds(0, kBackwards));
}

TEST(Race, OvertakingIsPaidOnce) {
  Race race;
  int paid[2] = {0, 0};
  const auto drive = [&](double speed, int steps) {
    for (int i = 0; i < steps; ++i) {
      race.step({speed / 2, 0}, {0, 0});
      for (size_t a = 0; a < 2; ++a) paid[a] += static_cast<int>(race.reward(a, kOvertake));
    }
  };
  drive(2, 19);
  EXPECT_EQ(paid[0], 0);  // 0.8 m ahead
  drive(2, 2);
  EXPECT_EQ(paid[0], 1);
  drive(-1, 12);
  drive(2, 12);
  EXPECT_EQ(paid[0], 1);
  EXPECT_EQ(paid[1], 0);  // it began ahead
}

TEST(Race, TheOneBehindPaysForContact) {
  Race race;
  race.env.simulation.place_vehicle(1, {3.2, 0, 0});
  measure_again(*race.task, race.env);
  double sums[2] = {0, 0};
  for (int i = 0; i < 20; ++i) {
    race.step({1, 0}, {0, 0});
    for (size_t a = 0; a < 2; ++a) sums[a] += race.reward(a, kRearContact);
  }
  EXPECT_TRUE(race.env.agents[1].now.collided());
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[1], 0);
}

TEST(Race, TheOneBehindPaysForContactALapAheadToo) {
  Race race;
  race.env.simulation.place_vehicle(1, {3.2, 0, 0});
  measure_again(*race.task, race.env);
  const double lap = race.tracker().line(race.env).length();
  for (double* value : {&race.of(0).along, &race.of(0).before, &race.of(0).farthest}) *value += lap;
  double sums[2] = {0, 0};
  for (int i = 0; i < 20; ++i) {
    race.step({1, 0}, {0, 0});
    for (size_t a = 0; a < 2; ++a) sums[a] += race.reward(a, kRearContact);
  }
  EXPECT_GT(race.of(0).along, lap);
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[1], 0);
}

TEST(Race, RivalsThatWaitMakeNoProgress) {
  Race race;
  race.of(1).along += 0.5;
  EXPECT_NEAR(race.reward(0, kRivalsProgress), 0.5, 1e-12);
  race.env.agents[1].waits = true;
  EXPECT_EQ(race.reward(0, kRivalsProgress), 0);
}

// A move by the caller counts as no progress and no lap.
TEST(Race, MovedByACallerItHasTheSameWayLeft) {
  Race race;
  const double left = race.of(0).line - race.of(0).along;
  race.env.simulation.place_vehicle(0, {8, 0, 0});
  measure_again(*race.task, race.env);
  EXPECT_NEAR(race.of(0).along, 8, 1e-6);
  EXPECT_NEAR(race.of(0).line - race.of(0).along, left, 1e-6);
  EXPECT_NEAR(race.reward(0, kTrackProgress), 0, 1e-9);
  EXPECT_FALSE(race.holds(0, kBackwards));
}

std::vector<float> observed(Race& race, size_t agent, size_t key) {
  const ObservationSlot& slot = race.task->agents[agent].observations[key];
  std::vector<float> out(slot.low.size());
  Scratch scratch;
  slot.term->write_frame(race.env, race.env.agents[agent], scratch, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(Race, DriversSeeTheWayAndTheirRival) {
  Race race;
  // b stands at (5, 2) and looks along y
  const std::vector<float> way = observed(race, 1, 0);  // of (8, 0) and (10, 1)
  const float expected[] = {-2, -3, -1, -5};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(way[i], expected[i], 1e-5);
  race.env.simulation.set_vehicle_twist(0, {1.5, 0, 0});
  race.env.simulation.set_vehicle_twist(1, {0.5, 0, 0});
  measure_again(*race.task, race.env);
  const std::vector<float> a = observed(race, 0, 1), b = observed(race, 1, 1);
  const float of_b[] = {3, 2, -1.5f, 1}, of_a[] = {-2, 3, -0.5f, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(a[i], of_b[i], 1e-5);
    EXPECT_NEAR(b[i], of_a[i], 1e-5);
  }
  race.env.simulation.place_vehicle(1, {5, 6, 0});  // behind the wall
  measure_again(*race.task, race.env);
  EXPECT_EQ(observed(race, 0, 1), std::vector<float>(4, 0));
  race.env.simulation.place_vehicle(1, {10, 1, 0});  // in sight, but too far away
  measure_again(*race.task, race.env);
  EXPECT_EQ(observed(race, 0, 1), std::vector<float>(4, 0));
}

TEST(Race, AgentsLineUpAnywhereWithOneSpeed) {
  Race race(std::string(kAgents) +
            "<reset><line_up lateral='0.1' yaw='5' speed='0.5 1.5' gap='1.5 4' clearance='0.1'/></reset>" +
            kTerms);
  int first_leads = 0, quarters[4] = {0, 0, 0, 0};
  double sideways = 0, most = 0;
  const Centreline& line = race.tracker().line(race.env);
  for (int i = 0; i < 400; ++i) {
    start_episode(*race.task, race.env);
    const AgentState &a = race.env.agents[0], &b = race.env.agents[1];
    const double gap = std::fabs(race.tracker().state(a).along - race.tracker().state(b).along);
    ASSERT_GT(gap, 1.2);  // at a corner the noise moves a place along the line, too
    ASSERT_LT(gap, 4.3);
    ASSERT_EQ(race.tracker().state(a).line,
              std::max(race.tracker().state(a).along, race.tracker().state(b).along));
    ASSERT_NEAR(a.now.twist.vx, b.now.twist.vx, 1e-5);
    ASSERT_GT(a.now.twist.vx, 0.49);
    ASSERT_LT(a.now.twist.vx, 1.51);
    ASSERT_GE(a.now.clearance, 0.1);
    first_leads += race.tracker().state(a).along > race.tracker().state(b).along;
    ++quarters[static_cast<size_t>(line.nearest({a.now.pose.x, a.now.pose.y}) / 10)];
    const Pose2 on = line.at(race.tracker().state(a).along);
    const double off = norm(Vec2{a.now.pose.x - on.x, a.now.pose.y - on.y});
    sideways += off * off / 400;
    most = std::max(most, std::fabs(std::remainder(a.now.pose.yaw - on.yaw, 2 * kPi)));
  }
  EXPECT_GT(first_leads, 150);
  EXPECT_LT(first_leads, 250);
  for (const int count : quarters) EXPECT_GT(count, 60);
  EXPECT_NEAR(std::sqrt(sideways), 0.1, 0.02);
  EXPECT_GT(most, 5 * kDegree);
}

TEST(Race, AGivenPoseIsKeptAndTheOthersStandBesideIt) {
  Race race(std::string(kAgents) + "<reset><line_up gap='2 3'/></reset>" + kTerms);
  std::vector<GivenStart> given(2);
  given[0].pose = Pose2{10, 4, 1.5};
  race.env.given = given;
  start_episode(*race.task, race.env);
  EXPECT_NEAR(race.env.agents[0].now.pose.y, 4, 1e-6);
  EXPECT_NEAR(race.of(0).along, 14, 1e-6);
  EXPECT_NEAR(std::fabs(race.of(1).along - 14), 2.5, 0.51);
  given[0].pose = Pose2{5, 4, 0};
  EXPECT_THROW(start_episode(*race.task, race.env), Error);
}

TEST(Race, NoRoomIsAnError) {
  Race race;
  const auto task = compile_task(
      env_of(std::string(kAgents) + "<reset><line_up gap='2' clearance='3'/></reset>"), load_options());
  EnvState env = make_env(*task, 1);
  EXPECT_THROW(start_episode(*task, env), WorldFileError);
}

// A car's steering follows the action at 3.2 rad/s, a seventh of a turn of 24 degrees a period.
TEST(Race, SteeringHasARate) {
  Batch batch(shipped("race"), options(1));
  batch.reset();
  const size_t steer = observation_index(batch, "steer");
  const double step = 183 * kDegree * 0.04;
  batch.step({{-0.7f, 1.0f}});
  EXPECT_NEAR(batch.observation(steer)[0], step, 1e-5);
  batch.step({{-0.7f, 1.0f}});
  EXPECT_NEAR(batch.observation(steer)[0], 2 * step, 1e-5);
  batch.step({{-0.7f, -1.0f}});
  EXPECT_NEAR(batch.observation(steer)[0], step, 1e-5);
  EXPECT_NEAR(info(batch, "reward/steer_rate").values[0], 0, 1e-12);  // not at its end
}

TEST(Race, ChangesAreDifferencesOfFrames) {
  for (const int stride : {1, 3}) {
    const auto scan = [&](std::vector<std::pair<std::string, Overrides>> keywords) {
      keywords.insert(keywords.end(), {{"history", number(3)}, {"stride", number(stride)}});
      EnvSpec out = shipped("race");
      apply_overrides(out, dict({{"observe", dict({{"scan", dict(keywords)}})}}));
      return out;
    };
    Batch frames(scan({{"changes", off()}}), options(2)), differences(scan({}), options(2));
    for (Batch* b : {&frames, &differences}) b->reset();
    const size_t k = observation_index(frames, "scan");
    for (uint32_t s = 0; s < 12; ++s) {
      for (Batch* b : {&frames, &differences}) b->step({{0.0f, 0.1f, -0.5f, 0.0f}});
      const auto f = frames.observation(k), d = differences.observation(k);
      for (size_t i = 0; i < 20; ++i) {
        ASSERT_EQ(d[i], f[40 + i]);
        ASSERT_EQ(d[20 + i], f[40 + i] - f[20 + i]);
        ASSERT_EQ(d[40 + i], f[20 + i] - f[i]);
      }
    }
  }
  EnvSpec wrong = shipped("race");
  apply_overrides(wrong, dict({{"observe", dict({{"scan", dict({{"history", number(1)}})}})}}));
  EXPECT_THROW((void)compile_task(wrong, load_options()), WorldFileError);
}

}  // namespace
}  // namespace mvsim::race_test
