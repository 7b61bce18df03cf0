// Actions that drive cars: the command of the controller, computed by hand, and the motion of the car.
#include <gtest/gtest.h>

#include <cmath>

#include "episode/episode.h"
#include "task/task_test_util.h"
#include "vehicle/car.h"

namespace mvsim::car_action_test {
namespace {

EnvSpec car(const std::string& vehicle, const std::string& action) {
  return testing::from_text(
      R"(<mvsim_env world="../tests/data/cars.world.xml" control_period="0.1" time_limit="20">
    <agent vehicle=")" +
      vehicle + "\">" + action + R"(<observe class="odometry"/></agent>
    <reward class="time" weight="-1"/></mvsim_env>)");
}

// A car under one action, kept for `periods`.
struct Drive {
  Drive(const std::string& vehicle, const std::string& action, std::initializer_list<double> values,
        int periods = 1)
      : task(compile_task(car(vehicle, action), testing::load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
    index = env.simulation.model().vehicle_index(vehicle);
    EXPECT_EQ(env.agents[0].action.size(), values.size());
    hold(values, periods);
  }
  void hold(std::initializer_list<double> values, int periods) {
    double reward = 0;
    for (int i = 0; i < periods; ++i) {
      env.agents[0].action = values;
      step_period(*task, env, [] { return true; }, {&reward, 1});
    }
  }
  const double* command() const { return env.simulation.state().vehicles[index].command; }
  std::span<const WheelState> wheels() const { return wheel_states(env.simulation, index); }
  double vx() const { return vehicle_twist(env.simulation, index).vx; }

  decltype(compile_task(car("", ""), testing::load_options())) task;
  EnvState env;
  size_t index = 0;
};

std::string error_of(const std::string& vehicle, const std::string& action) {
  try {
    compile_task(car(vehicle, action), testing::load_options());
  } catch (const WorldFileError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CarActions, SteerTorqueOfTwoMotors) {
  Drive d("motors", "<action class='steer_torque' torque='50'/>", {0.5, -1});
  EXPECT_NEAR(d.command()[0], -25, 1e-12) << "the world language's torques are negative forward";
  EXPECT_NEAR(d.command()[1], -25, 1e-12);
  EXPECT_NEAR(d.command()[2], -32 * kDegree, 1e-12) << "the car's own limit";
  EXPECT_NEAR(d.wheels()[kFrontLeft].torque, 25, 1e-12);
  EXPECT_LT(d.wheels()[kFrontLeft].steer, 0);
  EXPECT_GT(d.vx(), 0);
}

TEST(CarActions, SteerTorqueOfAnEngine) {
  Drive d("engine", "<action class='steer_torque' torque='200' steer='20'/>", {1, 0.5});
  EXPECT_NEAR(d.command()[0], -200, 1e-12);
  EXPECT_NEAR(d.command()[1], 10 * kDegree, 1e-12);
  EXPECT_NEAR(d.wheels()[kRearLeft].torque, 100, 1e-12) << "open_rear, halves";
  EXPECT_EQ(d.wheels()[kFrontLeft].torque, 0);
}

TEST(CarActions, SpeedSteerOfMotorsAndOfAnEngine) {
  for (const char* vehicle : {"speed", "engine_speed"}) {
    Drive d(vehicle, "<action class='speed_steer' vx='-0.5 1.5' steer='16'/>", {0.5, 0.25}, 80);
    EXPECT_NEAR(d.command()[0], 1, 1e-12);
    EXPECT_NEAR(d.command()[1], 4 * kDegree, 1e-12);
    EXPECT_NEAR(d.vx(), 1, 0.05) << vehicle;
  }
}

// 1.5 m/s on the tightest curve, with the usual half more: what a velocity observation takes for its bound.
TEST(CarActions, SpeedSteerKnowsItsTurningSpeed) {
  EnvSpec spec =
      car("speed", "<action class='speed_steer' vx='-0.5 1.5' steer='16'/><observe class='velocity'/>");
  const auto task = compile_task(spec, testing::load_options());
  const std::vector<float>& high = task->agents[0].observations.at(0).high;
  EXPECT_NEAR(high.at(0), 1.5 * 1.5, 1e-6);
  EXPECT_NEAR(high.at(1), 1.5 * 1.5 * std::tan(16 * kDegree) / 1.3, 1e-6);
}

TEST(CarActions, TwistOfACar) {
  Drive d("twist", "<action class='twist' vx='0 1' omega='-0.4 0.4'/>", {1, 0.5}, 60);
  EXPECT_NEAR(d.vx(), 1, 0.05);
  EXPECT_NEAR(vehicle_twist(d.env.simulation, d.index).omega, 0.2, 0.02);
}

TEST(CarActions, Pedals) {
  Drive d("pedals", "<action class='throttle_brake'/>", {0.5, -1, 0.5});
  EXPECT_NEAR(d.wheels()[kFrontLeft].torque, 40, 1e-12);
  EXPECT_NEAR(d.wheels()[kFrontRight].torque, 40, 1e-12);
  EXPECT_EQ(d.wheels()[kRearLeft].torque, 0);
  for (const WheelState& wheel : d.wheels()) EXPECT_EQ(wheel.brake, 0);
  EXPECT_NEAR(d.command()[2], 16 * kDegree, 1e-12);
  d.hold({1, -1, 0}, 50);
  const double fast = d.vx();
  EXPECT_GT(fast, 1);
  d.hold({0, 0, 0}, 1);
  for (const WheelState& wheel : d.wheels())
    EXPECT_NEAR(wheel.brake, 75, 1e-12) << "half of it, on every wheel";
  // 4 * 75 N m at 0.25 m slow 332 kg and four wheels of 2 I / d^2 = 4 kg at 3.45 m/s2
  EXPECT_NEAR(d.vx(), fast - 0.1 * 4 * 75 / 0.25 / (332 + 4 * 4), 0.05);
  d.hold({0, 1, 0}, 30);
  EXPECT_NEAR(d.vx(), 0, 1e-3) << "a brake stops and does not turn round";
  d.hold({0.5, 1, 0}, 10);
  EXPECT_NEAR(d.vx(), 0, 1e-3) << "150 N m a wheel hold 40 N m";
}

TEST(CarActions, PedalsWithinTheBoundsOfTheFile) {
  Drive d("engine_pedals", "<action class='throttle_brake' throttle='0 0.5' brake='0 0' steer='10'/>",
          {1, 1, -1});
  EXPECT_NEAR(d.command()[0], 0.5, 1e-12);
  EXPECT_EQ(d.command()[1], 0);
  EXPECT_NEAR(d.command()[2], -10 * kDegree, 1e-12);
  EXPECT_NEAR(d.wheels()[kRearRight].torque, 100, 1e-12) << "half of 400 N m, shared by two wheels";
}

TEST(CarActions, SayWhatIsWrong) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"motors", "<action class='wheel_torque' torque='5'/>"}, "steers, expected the class 'steer_torque'"},
      {{"speed", "<action class='steer_torque' torque='5'/>"},
       "controller 'front_steer_pid', expected 'raw'"},
      {{"motors", "<action class='speed_steer' vx='0 1'/>"}, "controller 'raw', expected 'front_steer_pid'"},
      {{"speed", "<action class='speed_steer' vx='0 1' steer='33'/>"}, "33"},
      {{"speed", "<action class='speed_steer'/>"}, "expected the attribute 'vx'"},
      {{"motors", "<action class='throttle_brake'/>"}, "expected 'throttle_brake'"},
      {{"pedals", "<action class='throttle_brake' throttle='0 2'/>"}, "throttle"},
      {{"pedals", "<action class='twist' vx='0 1' omega='-1 1'/>"}, "expected one that takes a twist"},
  };
  for (const auto& [given, expected] : cases) {
    const std::string error = error_of(given.first, given.second);
    EXPECT_NE(error.find(expected), std::string::npos) << error;
    EXPECT_NE(error.find(":2:"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace mvsim::car_action_test
