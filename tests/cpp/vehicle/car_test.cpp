// Steering geometry of cars against closed forms.
#include "vehicle/car.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "vehicle/controller.h"
#include "vehicle/dynamics.h"

namespace mvsim {
class Ackermann;
class AckermannRaw;
class AckermannSteerPid;
class AckermannTwistIdeal;
class AckermannTwistPid;
class DifferentialTwistPid;
}  // namespace mvsim

namespace mvsim::car_test {
namespace {

std::vector<WheelModel> wheels_of(double length, double track) {
  std::vector<WheelModel> wheels(4);
  wheels[kRearLeft].position = {0, track / 2};
  wheels[kRearRight].position = {0, -track / 2};
  wheels[kFrontLeft].position = {length, track / 2};
  wheels[kFrontRight].position = {length, -track / 2};
  for (WheelModel& w : wheels) w.radius = 0.25;
  return wheels;
}

TEST(Car, AnglesOfTheFrontWheels) {
  const auto wheels = wheels_of(1.3, 2);
  const double limit = 80 * kDegree;
  const auto expect = [&](double steer, double left, double right) {
    const FrontAngles angles = ackermann_angles(wheels, limit, steer * kDegree);
    EXPECT_NEAR(angles.left / kDegree, left, 1e-3) << steer;
    EXPECT_NEAR(angles.right / kDegree, right, 1e-3) << steer;
  };
  expect(20, 26.817, 15.873);
  expect(-20, -15.873, -26.817);
  expect(30, 46.085, 21.791);
}

TEST(Car, BeyondTheLimitIsTheLimitAndZeroIsZero) {
  const auto wheels = wheels_of(1.3, 2);
  const double limit = 30 * kDegree;
  const FrontAngles max = ackermann_angles(wheels, limit, limit), beyond = ackermann_angles(wheels, limit, 2);
  EXPECT_EQ(max.left, beyond.left);
  EXPECT_EQ(max.right, beyond.right);
  EXPECT_EQ(ackermann_angles(wheels, limit, 0).left, 0);
  EXPECT_EQ(ackermann_angles(wheels, limit, 0).right, 0);
}

// Both wheels roll about one point on the line of the rear axle, also where that point lies between the
// wheels.
TEST(Car, WheelsTurnAboutOnePoint) {
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 1000; ++i) {
    const double length = random.uniform(0.2, 4), track = random.uniform(0.2, 4);
    const auto wheels = wheels_of(length, track);
    const double steer = random.uniform(-1.5, 1.5);
    const FrontAngles angles = ackermann_angles(wheels, kSteerLimit, steer);
    const double radius = length / std::tan(steer);
    for (const auto& [wheel, angle] : {std::pair{kFrontLeft, angles.left}, {kFrontRight, angles.right}}) {
      const Vec2 to_wheel = wheels[wheel].position - Vec2{0, radius};
      EXPECT_NEAR(dot(to_wheel, {std::cos(angle), std::sin(angle)}), 0, 1e-9);
      const double forward = cross(to_wheel, {std::cos(angle), std::sin(angle)});
      EXPECT_GT(forward * steer, 0) << "a wheel rolls forward when the car turns that way";
    }
  }
}

// The rotations without angles are those by the angles, for headings of any length.
TEST(Car, RotationsOfTheFrontWheelsAreThoseOfTheirAngles) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 1000; ++i) {
    const auto wheels = wheels_of(random.uniform(0.2, 4), random.uniform(0.2, 4));
    const double steer = random.uniform(-kSteerLimit, kSteerLimit);
    const FrontAngles angles = ackermann_angles(wheels, kSteerLimit, steer);
    FrontMemo memo;
    const FrontMemo& found = front_rotations(wheels, steer, memo);
    EXPECT_NEAR(found.left, angles.left, 1e-14);
    EXPECT_NEAR(found.right, angles.right, 1e-14);
    const double length = random.uniform(1e-3, 30);
    const FrontRotations scaled =
        front_rotations(wheels, {length * std::cos(steer), length * std::sin(steer)});
    for (const FrontRotations& rotations : {found.rotations, scaled}) {
      EXPECT_NEAR(rotations.left.c, std::cos(angles.left), 1e-14);
      EXPECT_NEAR(rotations.left.s, std::sin(angles.left), 1e-14);
      EXPECT_NEAR(rotations.right.c, std::cos(angles.right), 1e-14);
      EXPECT_NEAR(rotations.right.s, std::sin(angles.right), 1e-14);
    }
  }
  const FrontRotations straight = front_rotations(wheels_of(1.3, 2), {3, 0});
  EXPECT_EQ(straight.left.c, 1);
  EXPECT_EQ(straight.left.s, 0);
}

TEST(Car, SteeringOfATwist) {
  EXPECT_EQ(steer_of_twist(1.4, 2, 0), 0);
  EXPECT_NEAR(steer_of_twist(1.4, 2, 0.6), std::atan(1.4 * 0.6 / 2), 1e-15);
  EXPECT_NEAR(steer_of_twist(1.4, -2, 0.6), -std::atan(1.4 * 0.6 / 2), 1e-15);
  EXPECT_EQ(steer_of_twist(1.4, 0, 0.6), kPi / 2);
  EXPECT_EQ(steer_of_twist(1.4, 0, -0.6), -kPi / 2);
}

std::vector<double> defaults(std::span<const ParamInfo> table) {
  std::vector<double> out;
  for (const ParamInfo& info : table) out.push_back(info.fallback);
  return out;
}

// Bench that runs a controller for a car at rest.
struct Bench {
  const Dynamics& dynamics;
  const Controller& controller;
  std::vector<WheelModel> wheels = wheels_of(1.3, 2);
  std::vector<WheelState> states = std::vector<WheelState>(4);
  std::vector<double> dynamics_params = defaults(dynamics.params());
  std::vector<double> params = defaults(controller.params());
  std::vector<double> memory = std::vector<double>(controller.state_size());
  double climbing_force = 0;
  SteerMemo memo = {};

  void step(std::initializer_list<double> command) {
    double actuation[kMaxActuation] = {};
    const ControllerInput in{.dt = 0.01,
                             .wheels = wheels,
                             .states = states,
                             .odometry = odometry_twist(wheels, states),
                             .dynamics_params = dynamics_params.data(),
                             .climbing_force = climbing_force};
    controller.step(params.data(), in, command.begin(), memory.data(), actuation);
    dynamics.drive(dynamics_params.data(), actuation, wheels, states, memo);
  }
  double& param(std::string_view name) {
    for (size_t i = 0; i < params.size(); ++i)
      if (controller.params()[i].name == name) return params[i];
    throw Error("no parameter " + std::string(name));
  }
};

TEST(Ackermann, RearWheelsGetNoTorque) {
  for (const Controller* controller : registered<Dynamics, Ackermann>().controllers()) {
    Bench bench{registered<Dynamics, Ackermann>(), *controller};
    bench.step({-0.5, 0.3, 0.1});
    EXPECT_EQ(bench.states[kRearLeft].torque, 0) << controller->name();
    EXPECT_EQ(bench.states[kRearRight].torque, 0) << controller->name();
  }
}

TEST(Ackermann, RawHoldsTorquesAndSteering) {
  Bench bench{registered<Dynamics, Ackermann>(), registered<Controller, AckermannRaw>()};
  bench.step({-40, -25, -0.2});
  EXPECT_EQ(bench.states[kFrontLeft].torque, 40);
  EXPECT_EQ(bench.states[kFrontRight].torque, 25);
  EXPECT_EQ(bench.states[kFrontLeft].steer, ackermann_angles(bench.wheels, 30 * kDegree, -0.2).left);
  EXPECT_EQ(bench.states[kRearLeft].steer, 0);
}

// At rest, KP alone: torque is KP times the speed that each wheel shall have on its own circle.
TEST(Ackermann, EachFrontWheelGetsItsOwnSetpoint) {
  for (const bool by_twist : {true, false}) {
    Bench bench{registered<Dynamics, Ackermann>(), by_twist ? registered<Controller, AckermannTwistPid>()
                                                            : registered<Controller, AckermannSteerPid>()};
    bench.param("max_torque") = 0;  // unlimited
    const double v = 1.5, steer = 0.3, omega = v * std::tan(steer) / 1.3;
    bench.step({v, by_twist ? omega : steer});
    const double left = omega * std::hypot(1.3, v / omega - 1),
                 right = omega * std::hypot(1.3, v / omega + 1);
    EXPECT_NEAR(bench.states[kFrontLeft].torque, 100 * left, 1e-9);
    EXPECT_NEAR(bench.states[kFrontRight].torque, 100 * right, 1e-9);
  }
}

TEST(Ackermann, FrontSteerPidKeepsWheelsTurnedAtRest) {
  Bench bench{registered<Dynamics, Ackermann>(), registered<Controller, AckermannSteerPid>()};
  bench.step({0, 0.3});
  EXPECT_NEAR(bench.states[kFrontLeft].steer, ackermann_angles(bench.wheels, 1, 0.3).left, 1e-12);
  EXPECT_EQ(bench.states[kFrontLeft].torque, 0);
}

TEST(Ackermann, IdealTwistShowsItsSteering) {
  Bench bench{registered<Dynamics, Ackermann>(), registered<Controller, AckermannTwistIdeal>()};
  bench.step({1, 0.2});
  const double steer = std::atan(1.3 * 0.2);
  EXPECT_NEAR(bench.states[kFrontLeft].steer, ackermann_angles(bench.wheels, 1, steer).left, 1e-12);
  bench.step({0, -0.2});
  EXPECT_NEAR(bench.states[kFrontLeft].steer, ackermann_angles(bench.wheels, 1, -1.3 * 0.2).left, 1e-12);
  bench.step({0, -5});
  EXPECT_NEAR(bench.states[kFrontLeft].steer, ackermann_angles(bench.wheels, 1, -30 * kDegree).left, 1e-12);
}

// The weight along the slope times the radius, shared by the driven wheels, is added to the PID's output.
TEST(SpeedPid, SlopeFeedforwardPushesUphill) {
  for (const Controller* controller :
       {&registered<Controller, AckermannTwistPid>(), &registered<Controller, DifferentialTwistPid>()}) {
    Bench bench{registered<Dynamics, Ackermann>(), *controller};
    bench.climbing_force = 60;
    bench.param("KP") = 0;
    bench.step({1, 0});
    EXPECT_EQ(bench.states[kFrontLeft].torque, 0);
    bench.param("enable_feedforward") = 1;
    bench.param("feedforward_gain") = 0.5;
    double actuation[kMaxActuation] = {};
    const ControllerInput in{.dt = 0.01,
                             .wheels = bench.wheels,
                             .states = bench.states,
                             .odometry = {},
                             .dynamics_params = bench.dynamics_params.data(),
                             .climbing_force = 60};
    const double command[] = {1.0, 0.0};
    controller->step(bench.params.data(), in, command, bench.memory.data(), actuation);
    const double first =
        controller == &registered<Controller, DifferentialTwistPid>() ? actuation[0] : actuation[kCarTorque];
    EXPECT_NEAR(first, 0.5 * 60 * 0.25 / 2, 1e-12) << "torques are positive forward";
  }
}

}  // namespace
}  // namespace mvsim::car_test
