// Distance from a centreline, slip rewards, and places on a line that crosses itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "task/plan/centreline.h"
#include "task/track/race.h"

namespace mvsim::track_error_test {
namespace {

using namespace testing;

// A square of 10 m that is driven counter-clockwise, and two squares that touch at the origin: the way is
// right, up, left, down through the origin to the lower left and back.
constexpr const char* kSquare = "# x y\n0 0\n10 0\n10 10\n0 10\n";
constexpr const char* kEight = "# x y\n1 1\n8 1\n8 8\n1 8\n1 -8\n8 -8\n8 -1\n-8 -1\n-8 1\n";
constexpr const char* kWorld = R"(<mvsim_world>
  <vehicle name="a"><init_pose>3 0 0</init_pose><dynamics class="differential">
    <l_wheel pos="0 0.3" mass="2" width="0.05" diameter="0.4"/>
    <r_wheel pos="0 -0.3" mass="2" width="0.05" diameter="0.4"/>
    <controller class="twist_pid"><KP>20</KP><KI>10</KI><max_torque>20</max_torque></controller></dynamics>
    <friction class="default"><mu>0.3</mu></friction></vehicle>
  </mvsim_world>)";
constexpr const char* kAgent = R"(<agent vehicle="a"><action class="twist" vx="-2 2" omega="-1 1"/>
  <observe class="track_error" points="2" spacing="4" max_offset="3"/></agent>)";
constexpr const char* kTerms = R"(<reward class="track_offset"/>
  <reward class="track_offset" name="squared" squared="true"/><reward class="speed_error" target="2"/>
  <reward class="sideslip" angle="20 30"/><reward class="sideslip" name="any" min_speed="0.5"/>
  <reward class="wheel_slip"/><reward class="track_progress"/>
  <terminate class="off_track" offset="-0.4 1"/>)";
enum { kOffset, kSquared, kSpeedError, kSideslip, kAnySlip, kWheelSlip, kProgress };

EnvSpec env_of(const std::string& content, const std::string& line = "square.csv") {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_track_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "track.world.xml") << kWorld;
  std::ofstream(folder / "square.csv") << kSquare;
  std::ofstream(folder / "eight.csv") << kEight;
  return load_env_text("<mvsim_env id='r' world='track.world.xml' control_period='0.1'" +
                           (line.empty() ? "" : " centreline='" + line + "'") + ">\n" + kAgent + content +
                           "</mvsim_env>",
                       (folder / "r.env.xml").string(), load_options());
}

std::string error_of(const std::string& content, const std::string& line = "square.csv") {
  try {
    (void)compile_task(env_of(content, line), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

struct Track {
  explicit Track(const std::string& line = "square.csv")
      : task(compile_task(env_of(kTerms, line), load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
  }
  void place(const Pose2& pose, const Twist2& twist = {}) {
    env.simulation.place_vehicle(0, pose);
    env.simulation.set_vehicle_twist(0, twist);
    measure_again(*task, env);
  }
  double reward(size_t term) const { return task->agents[0].rewards[term].term->value(env, env.agents[0]); }
  bool is_off() const { return task->agents[0].terminations[0]->holds(env, env.agents[0]); }
  std::vector<float> observed() {
    const ObservationSlot& slot = task->agents[0].observations[0];
    std::vector<float> out(slot.low.size());
    Scratch scratch;
    slot.term->write_frame(env, env.agents[0], scratch, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }
  void step(double speed) {
    env.agents[0].action = {speed / 2, 0};
    std::vector<double> rewards(1);
    step_period(
        *task, env, [] { return true; }, rewards);
  }

  std::unique_ptr<Task> task;
  EnvState env;
};

// Expects values with the tolerance of float positions in Box2D.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST(TrackError, IsThatOfTheNearestPlace) {
  Track track;
  track.place({3, -0.5, 0.3});
  expect_near(track.observed(), {-0.5, 0.3, 0, kPi / 2 / 4});  // the corner is 7 m ahead
  EXPECT_NEAR(track.reward(kOffset), 0.5, 1e-6);
  EXPECT_NEAR(track.reward(kSquared), 0.25, 1e-6);
  EXPECT_TRUE(track.is_off());
  track.place({9, 5, -3});
  expect_near(track.observed(), {1, 2 * kPi - 3 - kPi / 2, 0, kPi / 2 / 4});
  EXPECT_FALSE(track.is_off());
  track.place({8.9, 5, kPi / 2});
  EXPECT_TRUE(track.is_off());
  const ObservationSlot& slot = track.task->agents[0].observations[0];
  expect_near(slot.high, {3, kPi, kPi / 4, kPi / 4});
}

TEST(TrackError, MistakesAreNamed) {
  EXPECT_NE(error_of("", "").find("expected the attribute 'centreline' of <mvsim_env>"), std::string::npos);
  for (const char* offset : {"", "offset='0 1'", "offset='-1 0'", "offset='1'"})
    EXPECT_NE(error_of("<terminate class='off_track' " + std::string(offset) + "/>").find("m to the left"),
              std::string::npos);
  EXPECT_NE(error_of("<reward class='speed_error'/>").find("target"), std::string::npos);
  EXPECT_NE(error_of("<reward class='sideslip' angle='20 190'/>").find("<= 180"), std::string::npos);
  EXPECT_EQ(error_of(kTerms), "no error");
}

TEST(SlipRewards, OfABodyThatMovesAside) {
  Track track;
  track.place({3, 0, 0}, {1.2, -0.5, 0});  // 22.6 degrees, 1.3 m/s
  EXPECT_NEAR(track.reward(kSideslip), std::atan2(0.5, 1.2), 1e-6);
  EXPECT_NEAR(track.reward(kSpeedError), 0.7 * 0.7, 1e-6);
  track.place({3, 0, 0}, {0.6, 0.25, 0});  // too slow for one of them
  EXPECT_EQ(track.reward(kSideslip), 0);
  EXPECT_NEAR(track.reward(kAnySlip), std::atan2(0.25, 0.6), 1e-6);
  track.place({3, 0, 0}, {-1.2, 0.5, 0});  // backwards, 157.4 degrees
  EXPECT_EQ(track.reward(kAnySlip), 0);
}

TEST(SlipRewards, OfWheelsThatSpin) {
  Track track;
  track.place({3, 0, 0}, {1, 0, 0});
  EXPECT_NEAR(track.reward(kWheelSlip), 0, 1e-6);  // placed wheels roll
  track.place({3, 0, 0});
  double most = 0;
  for (int i = 0; i < 10; ++i) {
    track.step(2);
    const double speed = vehicle_twist(track.env.simulation, 0).vx;
    double expected = 0;
    for (const WheelState& wheel : wheel_states(track.env.simulation, 0))
      expected += std::fabs(0.2 * wheel.spin - speed) / 2;
    EXPECT_NEAR(track.reward(kWheelSlip), expected, 1e-6);
    most = std::max(most, expected);
  }
  EXPECT_GT(most, 0.2);
}

TEST(CentrelineCrossing, KnowsWhetherItCrossesItself) {
  EXPECT_FALSE(Centreline({{0, 0}, {10, 0}, {10, 10}, {0, 10}}).crosses_itself());
  EXPECT_FALSE(Centreline({{0, 0}, {10, 0}, {5, 5}}).crosses_itself());
  EXPECT_TRUE(Centreline({{0, 0}, {10, 10}, {10, 0}, {0, 10}}).crosses_itself());
  EXPECT_TRUE(Centreline({{0, 0}, {5, 5}, {10, 0}, {10, 9}, {5, 5}, {0, 9}}).crosses_itself());
  std::vector<Vec2> circle, eight;
  for (int i = 0; i < 500; ++i) {
    const double t = 2 * kPi * i / 500;
    circle.push_back({std::cos(t), std::sin(t)});
    eight.push_back({std::cos(t), std::sin(2 * t)});
  }
  EXPECT_FALSE(Centreline(circle).crosses_itself());
  EXPECT_TRUE(Centreline(eight).crosses_itself());
}

// Along an eight in small steps, 0.2 m beside it, with its laps, forward and back: no step is a shortcut.
TEST(CentrelineCrossing, FollowsItsBranchOverTheCrossing) {
  std::vector<Vec2> points;
  for (int i = 0; i < 500; ++i) {
    const double t = 2 * kPi * i / 500;
    points.push_back({10 * std::cos(t), 5 * std::sin(2 * t)});
  }
  const Centreline line(points);
  double along = 0;
  for (const double step : {0.05, -0.05})
    for (int i = 0; i < 3000; ++i) {
      const double before = along;
      const Pose2 on = line.at(along + step);
      const Vec2 aside = Rotation2(on.yaw).rotate({0, 0.2});
      along = line.follow({on.x + aside.x, on.y + aside.y}, along);
      ASSERT_NEAR(along - before, step, 0.03) << i;
    }
}

TEST(CentrelineCrossing, FarFromACrossingItIsTheNearestPlace) {
  const std::vector<Vec2> points{{0, 0}, {10, 10}, {10, 0}, {0, 10}};
  const Centreline line(points);
  EXPECT_NEAR(line.follow({1, 1.2}, 1), line.nearest({1, 1.2}), 1e-12);
  EXPECT_NEAR(line.follow({1, 1.2}, 1 + line.length()), line.nearest({1, 1.2}) + line.length(), 1e-12);
  EXPECT_NEAR(line.follow({0, 1}, 0.5), -1, 1e-12);  // on the last piece, before the start
}

TEST(TrackError, ProgressGoesOnOverACrossing) {
  Track track("eight.csv");
  track.place({1, 2, -kPi / 2});
  const RaceTracker& race = *find_tracker<RaceTracker>(track.task->trackers);
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    track.step(1);
    sum += track.reward(kProgress);
  }
  EXPECT_LT(track.env.agents[0].now.pose.y, -1.5);
  EXPECT_NEAR(sum, 2 - track.env.agents[0].now.pose.y, 0.05);
  EXPECT_NEAR(race.state(track.env.agents[0]).along, 21 + 8 - track.env.agents[0].now.pose.y, 0.05);
}

}  // namespace
}  // namespace mvsim::track_error_test
