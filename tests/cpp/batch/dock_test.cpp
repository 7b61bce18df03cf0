// Docking a trailer: <dock> and its terms, the terms of the hitch, and starts of a robot with its trailer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "episode/pipeline_sources.h"
#include "task/track/dock.h"
#include "task/track/localization.h"
#include "task/trailer.h"

namespace mvsim::dock_test {
namespace {

using namespace testing;

constexpr double kHitchX = -0.3, kDrawbar = 0.6;  // m, anchors of tests/data/rig.world.xml
constexpr const char* kDock =
    "<dock pose='1 -2 90' of='trailer' point='-0.2 0.1' line='0.15' lateral='0.25' angle='10'/>";
constexpr const char* kTerms = R"(<reward class="dock_progress" along="0.5" lateral="2" angle="3"/>
  <reward class="docked"/><reward class="dock_error" base="1" lateral="5" angle="7"/><reward class="hitch"/>
  <terminate class="docked"/><terminate class="dock_missed"/><terminate class="hitch" max="40"/>)";
constexpr const char* kObserved =
    "<observe class='dock' max_distance='3'/><observe class='dock' name='near' max_distance='0.5' "
    "heading='false'/><observe class='hitch'/>";
enum { kProgress, kDocked, kError, kHitch };
enum { kDockedEnd, kMissedEnd, kHitchEnd };

EnvSpec env_of(const std::string& dock = kDock, const std::string& spawn = "",
               const std::string& terms = kTerms, const std::string& observed = kObserved,
               const std::string& vehicle = "tractor") {
  return from_text("<mvsim_env world='../tests/data/rig.world.xml' control_period='0.1' time_limit='20'>" +
                   dock + "<agent vehicle='" + vehicle +
                   "'><action class='twist' vx='-0.5 0.5' omega='-1 1'/>" + observed + "</agent>" +
                   (spawn.empty() ? "" : "<reset>" + spawn + "</reset>") + terms + "</mvsim_env>");
}

struct Dock {
  explicit Dock(const EnvSpec& spec = env_of())
      : task(compile_task(spec, load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
  }
  // Places the trailer's reference point and the robot before it at an angle of the hitch.
  void place(const Pose2& trailer, double hitch) {
    const Vec2 joint = transform(trailer, {kDrawbar, 0});
    const double yaw = trailer.yaw - hitch;
    const Vec2 robot = transform({joint.x, joint.y, yaw}, {-kHitchX, 0});
    env.simulation.place_vehicle_alone(1, trailer);
    env.simulation.place_vehicle_alone(0, {robot.x, robot.y, yaw});
    measure_again(*task, env);
  }
  double reward(size_t k) const { return task->agents[0].rewards[k].term->value(env, env.agents[0]); }
  bool holds(size_t k) const { return task->agents[0].terminations[k]->holds(env, env.agents[0]); }
  std::vector<float> observed(size_t k) {
    const ObservationSlot& slot = task->agents[0].observations[k];
    std::vector<float> out(slot.low.size());
    Scratch scratch;
    slot.term->write_frame(env, env.agents[0], scratch, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }
  void step(double speed, double turn) {
    env.agents[0].action = {2 * speed, turn};
    std::vector<double> rewards(1);
    step_period(
        *task, env, [] { return true; }, rewards);
  }
  const AgentState& agent() const { return env.agents[0]; }

  std::unique_ptr<Task> task;
  EnvState env;
};

// A pose of the trailer whose point (-0.2, 0.1) is at a pose in the frame of the dock at (1, -2), 90 degrees.
Pose2 trailer_at(const Pose2& in_dock) {
  const Pose2 point = compose({1, -2, kPi / 2}, in_dock);
  const Vec2 back = transform(point, {0.2, -0.1});
  return {back.x, back.y, point.yaw};
}

std::string error_of(const EnvSpec& spec) {
  try {
    const auto task = compile_task(spec, load_options());
    EnvState env = make_env(*task, 1);
    start_episode(*task, env);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

void expect_error(const EnvSpec& spec, const std::string& expected) {
  const std::string found = error_of(spec);
  EXPECT_NE(found.find(expected), std::string::npos) << found;
}

TEST(Dock, ObservesThePointOfTheTrailerInTheFrameOfTheDock) {
  Dock dock;
  dock.place(trailer_at({0.8, -0.3, 0.4}), 0.25);
  const std::vector<float> place = dock.observed(0), near = dock.observed(1), hitch = dock.observed(2);
  ASSERT_EQ(place.size(), 4u);
  EXPECT_NEAR(place[0], 0.8, 1e-6);
  EXPECT_NEAR(place[1], -0.3, 1e-6);
  EXPECT_NEAR(place[2], std::cos(0.4), 1e-6);
  EXPECT_NEAR(place[3], std::sin(0.4), 1e-6);
  ASSERT_EQ(near.size(), 2u);
  EXPECT_EQ(near[0], place[0]);  // what is beyond the bounds is clipped by the caller
  EXPECT_EQ(dock.task->agents[0].observations[1].high, (std::vector<float>{0.5F, 0.5F}));
  EXPECT_NEAR(hitch[0], std::cos(0.25), 1e-6);
  EXPECT_NEAR(hitch[1], std::sin(0.25), 1e-6);
}

TEST(Dock, OfTheRobotItselfIsItsOwnPoint) {
  Dock dock(env_of("<dock pose='1 -2 90' point='-0.3 0'/>"));
  dock.place({0.5, 1, 0.7}, 0.3);
  const Vec2 joint = transform({0.5, 1, 0.7}, {kDrawbar, 0});  // the point is the robot's anchor
  const std::vector<float> place = dock.observed(0);
  EXPECT_NEAR(place[0], joint.y + 2, 1e-6);
  EXPECT_NEAR(place[1], -(joint.x - 1), 1e-6);
  EXPECT_NEAR(std::atan2(place[3], place[2]), 0.4 - kPi / 2, 1e-6);
}

TEST(Dock, ErrorsAndEndsAtTheLine) {
  Dock dock;
  const double limit = 10 * kDegree;
  const struct {
    Pose2 place;
    bool docked, missed;
  } rows[] = {{{0.16, 0, 0}, false, false},
              {{0.14, 0.24, 0.95 * limit}, true, false},
              {{-0.5, -0.24, -0.95 * limit}, true, false},
              {{0.14, 0.26, 0}, false, true},
              {{0.14, 0, 1.05 * limit}, false, true},
              {{0.14, 0, kPi}, false, true}};  // the wrong way round
  for (const auto& row : rows) {
    dock.place(trailer_at(row.place), 0);
    EXPECT_EQ(dock.holds(kDockedEnd), row.docked) << row.place.x << " " << row.place.y;
    EXPECT_EQ(dock.holds(kMissedEnd), row.missed) << row.place.x << " " << row.place.y;
    const double error = 1 + 5 * std::fabs(row.place.y) + 7 * std::fabs(row.place.yaw);
    EXPECT_NEAR(dock.reward(kError), row.missed ? error : 0, 1e-6);
  }
}

TEST(Dock, SuccessPaysOnceAndIsMeasuredAtTheEnd) {
  Dock dock;
  dock.place(trailer_at({0.2, 0.05, 0.02}), 0);
  EXPECT_EQ(dock.reward(kDocked), 0);
  for (int i = 0; i < 20 && dock.agent().end == EpisodeEnd::kNone; ++i) dock.step(-0.5, 0);
  EXPECT_TRUE(dock.agent().success);
  EXPECT_EQ(dock.reward(kDocked), 1);
  EXPECT_EQ(dock.reward(kError), 0);
  const auto* const tracker = find_tracker<DockTracker>(dock.task->trackers);
  double infos[3];
  ASSERT_EQ(tracker->write_infos(dock.env, dock.agent(), infos), 3u);
  EXPECT_NEAR(infos[0], std::fabs(dock.observed(0)[1]), 1e-6);
  EXPECT_NEAR(infos[1], std::fabs(std::atan2(dock.observed(0)[3], dock.observed(0)[2])), 1e-6);
  EXPECT_EQ(infos[2], 0);  // it only drove backwards
}

TEST(Dock, ProgressIsThatOfThePotential) {
  Dock dock;
  dock.place(trailer_at({1.5, 0.6, 0.3}), 0.2);
  const auto potential = [&] {
    const std::vector<float> p = dock.observed(0);
    return 0.5 * std::fabs(p[0]) + 2 * std::fabs(p[1]) + 3 * std::fabs(std::atan2(p[3], p[2]));
  };
  EXPECT_EQ(dock.reward(kProgress), 0);  // a caller's move is no progress
  const double start = potential();
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    dock.step(i < 6 ? -0.5 : 0.5, 0.3);
    sum += dock.reward(kProgress);
  }
  EXPECT_GT(std::fabs(potential() - start), 0.01);
  EXPECT_NEAR(sum, start - potential(), 1e-5);
  dock.place(trailer_at({1, 0, 0}), 0);
  const Tracker& tracker = *dock.task->agents[0].own_trackers.front();
  EXPECT_NEAR(*tracker.way(dock.agent()), sum, 1e-5);
}

TEST(Dock, CountsBeginningsToDriveForwards) {
  Dock dock;
  dock.place(trailer_at({1.5, 0, 0}), 0);
  const auto* const tracker = find_tracker<DockTracker>(dock.task->trackers);
  const auto count = [&] {
    double infos[3];
    tracker->write_infos(dock.env, dock.agent(), infos);
    return infos[2];
  };
  const struct {
    double speed, pull_ups;
  } rows[] = {{-0.4, 0}, {0.4, 1}, {0, 1}, {0.4, 1}, {-0.4, 1}, {0.4, 2}};
  for (const auto& row : rows) {
    for (int i = 0; i < 8; ++i) dock.step(row.speed, 0);
    EXPECT_EQ(count(), row.pull_ups) << row.speed;
  }
}

TEST(Hitch, IsTheHeadingOfTheTrailerRelativeToTheRobot) {
  Dock dock;
  for (const double angle : {-0.75, -0.2, 0.0, 0.5}) {
    dock.place({0, 0, 3}, angle);  // near the jump of a yaw
    EXPECT_NEAR(hitch_angle(dock.env.simulation, 0, 1), angle, 1e-6);
    EXPECT_NEAR(hitch_angle(dock.env.simulation, 1, 0), -angle, 1e-6);
    EXPECT_NEAR(dock.reward(kHitch), angle * angle, 1e-6);
    EXPECT_EQ(dock.holds(kHitchEnd), angle < -0.7);  // 40 degrees are 0.698 rad
  }
}

TEST(RigStart, IsInItsRangesAndWhole) {
  const char* const spawn =
      "<spawn of='trailer' point='-0.2 0.1' area='-2 2 -1 1' yaw='20 60' hitch='-30 10' clearance='0.2'/>";
  Dock dock(env_of("<dock of='trailer' point='-0.2 0.1' line='-100'/>", spawn));
  double low[4] = {9, 9, 9, 9}, high[4] = {-9, -9, -9, -9};
  for (int i = 0; i < 300; ++i) {
    start_episode(*dock.task, dock.env);
    const Simulation& s = dock.env.simulation;
    const auto [a, b] = joint_anchors(s, 0);
    ASSERT_LT(norm(b - a), 1e-12) << i;
    ASSERT_GE(clearance(s, 0, 0.2), 0.2);
    const std::vector<float> p = dock.observed(0);
    const double found[] = {p[0], p[1], std::atan2(p[3], p[2]), hitch_angle(s, 0, 1)};
    for (int k = 0; k < 4; ++k) low[k] = std::min(low[k], found[k]), high[k] = std::max(high[k], found[k]);
    dock.step(0, 0);
    ASSERT_EQ(dock.agent().end, EpisodeEnd::kNone);
  }
  const double from[] = {-2, -1, 20 * kDegree, -30 * kDegree}, to[] = {2, 1, 60 * kDegree, 10 * kDegree};
  for (int k = 0; k < 4; ++k) {
    const double near = 0.05 * (to[k] - from[k]);
    EXPECT_GE(low[k], from[k] - 1e-6);
    EXPECT_LE(high[k], to[k] + 1e-6);
    EXPECT_LT(low[k], from[k] + near);
    EXPECT_GT(high[k], to[k] - near);
  }
}

TEST(RigStart, AGivenPoseIsThatOfTheRobot) {
  Dock dock(env_of(kDock, "<spawn of='trailer' area='-2 2 -1 1' hitch='20 30'/>"));
  GivenStart given;
  given.pose = Pose2{0.5, -1, 0.4};
  dock.env.given = {&given, 1};
  start_episode(*dock.task, dock.env);
  dock.env.given = {};
  EXPECT_NEAR(dock.agent().now.pose.x, 0.5, 1e-9);
  EXPECT_NEAR(dock.agent().now.pose.yaw, 0.4, 1e-9);
  EXPECT_NEAR(hitch_angle(dock.env.simulation, 0, 1), 0, 1e-9);  // in line, as in the world file
}

TEST(Dock, LocalizationMovesTheRobotAndItsTrailerTogether) {
  const EnvSpec spec = env_of(std::string(kDock) + "<localization jump_sigma='0.5' jump_sigma_yaw='20'/>");
  Dock dock(spec);
  const AgentState& agent = dock.agent();
  const Pose2 seen = find_tracker<LocalizationTracker>(dock.task->trackers)->seen(agent);
  const Simulation& s = dock.env.simulation;
  const Pose2 robot = agent.now.pose, trailer = body_pose(s, s.model().vehicles[1].body);
  EXPECT_GT(std::fabs(seen.x - robot.x), 1e-3);
  // the point in the frame of the robot, at the estimate
  const Vec2 point = transform(trailer, {-0.2, 0.1});
  const Vec2 local = Rotation2(robot.yaw).unrotate({point.x - robot.x, point.y - robot.y});
  const Vec2 there = transform(seen, local);
  const std::vector<float> place = dock.observed(0);
  EXPECT_NEAR(place[0], there.y + 2, 1e-6);
  EXPECT_NEAR(place[1], -(there.x - 1), 1e-6);
  const double yaw = seen.yaw + trailer.yaw - robot.yaw - kPi / 2;
  EXPECT_NEAR(std::remainder(std::atan2(place[3], place[2]) - yaw, 2 * kPi), 0, 1e-6);
}

TEST(Dock, IsPrivilegedOnlyWhereItMeasuresTheTrailer) {
  for (const bool of_trailer : {false, true}) {
    const EnvSpec spec = env_of(of_trailer ? "<dock of='trailer'/>" : "<dock/>");
    const auto task = compile_task(spec, load_options());
    const std::vector<ObservationSource> sources = observation_sources(*task, spec, 0);
    EXPECT_EQ(sources[0].privileged.empty(), !of_trailer);
    EXPECT_EQ(sources[0].needs, of_trailer ? std::vector<std::string>{} : std::vector<std::string>{"pose"});
    EXPECT_FALSE(sources[2].privileged.empty());  // no reading tells the angle of the hitch
  }
}

TEST(Dock, MistakesAreNamed) {
  EXPECT_EQ(error_of(env_of()), "no error");
  expect_error(env_of(""), "expected a <dock> in <mvsim_env>");
  expect_error(env_of("<dock pose='40 0 0'/>"), "pose: ");
  expect_error(env_of("<dock pose='0 0'/>"), "three numbers, x y yaw_deg");
  expect_error(env_of("<dock of='wagon'/>"), "expected 'robot' or 'trailer'");
  expect_error(env_of("<dock lateral='0'/>"), "lateral");
  expect_error(env_of("<dock angel='3'/>"), "angle");
  expect_error(env_of(kDock, "", "<terminate class='hitch'/>"), "expected the attribute 'max'");
  expect_error(env_of(kDock, "<spawn hitch='0 1'/>"), "hitch: expected with of='trailer' only");
  expect_error(env_of(kDock, "<spawn of='trailer' pose='0 0 0'/>"), "pose: found beside of='trailer'");
  expect_error(env_of(kDock, "<spawn of='trailer' clearance='9'/>"),
               "the robot and its trailer need 9 m around them, the freest of 2000 poses");
}

TEST(Dock, NeedsATrailer) {
  const std::string world = "<mvsim_env world='../worlds/nav_arena.world.xml' control_period='0.1'>";
  const std::string agent =
      "<agent><action class='twist' vx='-1 1' omega='-1 1'/><observe class='velocity'/></agent>";
  const auto with = [&](const std::string& dock, const std::string& terms) {
    return from_text(world + dock + agent + terms + "</mvsim_env>");
  };
  const std::string none = "is joined to 0 vehicles, expected one, its trailer";
  expect_error(with("", "<reward class='hitch'/>"), none);
  expect_error(with("<dock of='trailer'/>", "<reward class='docked'/>"), none);
  expect_error(with("", "<reset><spawn of='trailer'/></reset>"), "of: the vehicle 'robot' " + none);
  EXPECT_EQ(error_of(with("<dock/>", "<reward class='docked'/>")), "no error");
}

}  // namespace
}  // namespace mvsim::dock_test
