// Goals with a heading: poses of <goal> and of <place>, and the terms that use the heading.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "episode/quantities.h"

namespace mvsim::goal_poses_test {
namespace {

using namespace testing;

constexpr const char* kWorld = R"(<mvsim_world>
  <vehicle name="a"><init_pose>0 0 0</init_pose><dynamics class="differential">
    <l_wheel pos="0 0.3" mass="2" width="0.05" diameter="0.4"/>
    <r_wheel pos="0 -0.3" mass="2" width="0.05" diameter="0.4"/>
    <controller class="twist_pid"><KP>20</KP><KI>10</KI><max_torque>20</max_torque></controller></dynamics>
    </vehicle>
  <for var="i" from="1" to="2"><block name="box${i}"><static>true</static><init_pose>-5 ${i} 0</init_pose>
    <geometry type="box" lx="1" ly="1" lz="1"/></block></for>
  <walls><wallThickness>0.1</wallThickness><shape><pt>-9 -9</pt><pt>9 -9</pt><pt>9 -9</pt><pt>9 9</pt>
    <pt>9 9</pt><pt>-9 9</pt><pt>-9 9</pt><pt>-9 -9</pt></shape></walls>
  </mvsim_world>)";
constexpr const char* kPoses = "4 4 90 4 -4 -90 -4 0 180";
constexpr const char* kTerms = R"(<reward class="pose_progress" angle_weight="2" near="3"/>
  <terminate class="goal" radius="0.5" max_angle="10" max_speed="0.2"/>)";

std::string poses_of(const char* tag, const std::string& rest = "") {
  return std::string("<") + tag + " poses='" + kPoses + "' " + rest + "/>";
}

EnvSpec env_of(const std::string& resets, const std::string& terms = kTerms,
               const std::string& observe = "<observe class='goal_heading'/>") {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_poses_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "w.world.xml") << kWorld;
  return load_env_text(
      "<mvsim_env id='g' world='w.world.xml' control_period='0.1'><agent vehicle='a'>"
      "<action class='twist' vx='-1 1' omega='-1 1'/>" +
          observe + "</agent><reset>" + resets + "</reset>" + terms + "</mvsim_env>",
      (folder / "g.env.xml").string(), load_options());
}

std::string error_of(const std::string& resets, const std::string& terms = kTerms,
                     const std::string& observe = "<observe class='goal_heading'/>") {
  try {
    const auto task = compile_task(env_of(resets, terms, observe), load_options());
    EnvState env = make_env(*task, 1);
    start_episode(*task, env);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

void expect_error(const std::string& found, const std::string& expected) {
  EXPECT_NE(found.find(expected), std::string::npos) << found;
}

struct Yard {
  explicit Yard(const std::string& resets = poses_of("goal"))
      : task(compile_task(env_of(resets), load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
  }
  void place(const Pose2& pose, const Twist2& twist = {}) {
    env.simulation.place_vehicle(0, pose);
    env.simulation.set_vehicle_twist(0, twist);
    measure_again(*task, env);
  }
  bool is_there() const { return task->agents[0].terminations[0]->holds(env, env.agents[0]); }
  double reward() const { return task->agents[0].rewards[0].term->value(env, env.agents[0]); }
  void step(double speed, double turn) {
    env.agents[0].action = {speed, turn};
    std::vector<double> rewards(1);
    step_period(
        *task, env, [] { return true; }, rewards);
  }

  std::unique_ptr<Task> task;
  EnvState env;
};

TEST(GoalPoses, EachIsDrawnAndGivesTheHeading) {
  Yard yard;
  std::set<std::pair<double, double>> seen;
  for (int i = 0; i < 60; ++i) {
    start_episode(*yard.task, yard.env);
    const Vec2 goal = yard.env.agents[0].goal;
    seen.insert({goal.x, goal.y});
    double yaw = 0;
    read_quantities(*yard.task, yard.env, find_quantities(*yard.task, yard.env, "goal_yaw"), {&yaw, 1});
    EXPECT_NEAR(yaw, goal.x < 0 ? kPi : goal.y > 0 ? kPi / 2 : -kPi / 2, 1e-12);
  }
  EXPECT_EQ(seen, (std::set<std::pair<double, double>>{{4, 4}, {4, -4}, {-4, 0}}));
}

TEST(GoalPoses, HeadingIsInTheRobotsFrame) {
  Yard yard("<goal poses='4 4 90'/>");
  yard.place({1, 1, kPi / 6});
  float out[2];
  Scratch scratch;
  yard.task->agents[0].observations[0].term->write_frame(yard.env, yard.env.agents[0], scratch,
                                                         reinterpret_cast<std::byte*>(out));
  EXPECT_NEAR(out[0], 0.5, 1e-6);
  EXPECT_NEAR(out[1], std::sqrt(0.75), 1e-6);
}

TEST(GoalPoses, GoalIsReachedInItsPose) {
  Yard yard("<goal poses='4 4 90'/>");
  const double right = kPi / 2, limit = 10 * kDegree;
  yard.place({4.3, 4.3, right - 0.9 * limit}, {0.1, 0, 0});
  EXPECT_TRUE(yard.is_there());
  yard.place({4.3, 4.3, right + 1.1 * limit}, {0.1, 0, 0});
  EXPECT_FALSE(yard.is_there());
  yard.place({4, 4, -right});  // the wrong way round
  EXPECT_FALSE(yard.is_there());
  yard.place({4, 4, right}, {0.3, 0, 0});
  EXPECT_FALSE(yard.is_there());
}

TEST(GoalPoses, ProgressIsThatOfThePotential) {
  Yard yard("<goal poses='4 4 90'/>");
  const auto potential = [&] {
    const Pose2& p = yard.env.agents[0].now.pose;
    const double d = std::hypot(p.x - 4, p.y - 4);
    return d + 2 * std::fabs(std::remainder(p.yaw - kPi / 2, 2 * kPi)) * std::exp(-d / 3);
  };
  yard.place({2, 2, 0.3});
  EXPECT_EQ(yard.reward(), 0);  // a caller's move is no progress
  const double start = potential();
  double sum = 0;
  for (int i = 0; i < 20; ++i) {
    yard.step(i < 10 ? 1 : -1, 0.5);
    sum += yard.reward();
  }
  EXPECT_GT(std::fabs(potential() - start), 0.01);
  EXPECT_NEAR(sum, start - potential(), 1e-9);
}

TEST(GoalPoses, BlocksStandAtDifferentOnesAndTheGoalAtAnother) {
  Yard yard(poses_of("place", "blocks='box*'") + poses_of("goal", "clearance='1'"));
  std::set<std::pair<double, double>> goals;
  for (int i = 0; i < 60; ++i) {
    start_episode(*yard.task, yard.env);
    const Vec2 goal = yard.env.agents[0].goal;
    std::set<std::pair<double, double>> taken{{goal.x, goal.y}};
    for (const size_t block : {size_t{0}, size_t{1}}) {
      const Pose2 pose = block_plane_pose(yard.env.simulation, block);
      taken.insert({pose.x, pose.y});
    }
    EXPECT_EQ(taken, (std::set<std::pair<double, double>>{{4, 4}, {4, -4}, {-4, 0}}));
    goals.insert({goal.x, goal.y});
  }
  EXPECT_EQ(goals.size(), 3u);
}

TEST(GoalPoses, MistakesAreNamed) {
  expect_error(error_of("<goal position='4 4'/>"), "expected a <goal> with the attribute 'poses'");
  expect_error(
      error_of("<goal position='4 4'/>", "<reward class='pose_progress'/>", "<observe class='goal'/>"),
      "expected a <goal> with the attribute 'poses'");
  expect_error(error_of("<goal position='4 4'/>", "<terminate class='goal' radius='1' max_angle='5'/>",
                        "<observe class='goal'/>"),
               "max_angle: expected a <goal> with the attribute 'poses'");
  expect_error(error_of("<goal poses='4 4'/>"), "three numbers of each pose");
  expect_error(error_of("<goal poses='4 4 90 1'/>"), "found 4 numbers, expected three numbers of each pose");
  expect_error(error_of("<goal poses='40 4 90'/>"), "within what walls and maps enclose");
  expect_error(error_of(poses_of("goal", "area='0 1 0 1'")), "area: found beside 'poses'");
  expect_error(error_of(poses_of("goal") + poses_of("place", "blocks='box*' gap='1'")),
               "gap: found beside 'poses'");
  expect_error(error_of(poses_of("goal") + "<place blocks='box*' poses='4 4 0'/>"),
               "found 1 poses for 2 blocks");
  expect_error(error_of(poses_of("place", "blocks='box*'") + "<goal poses='4 4 90' clearance='9'/>"),
               "the freest of its 1 poses has");
  EXPECT_EQ(error_of(poses_of("goal")), "no error");
}

}  // namespace
}  // namespace mvsim::goal_poses_test
