// Cars in the world: closed forms of turning, boxes of steered wheels.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::car_test {
namespace {

const std::string kStep = "<simul_timestep>0.005</simul_timestep>";
const std::string kTwistPid =
    "<controller "
    "class='twist_front_steer_pid'><KP>200</KP><KI>40</KI><max_torque>300</max_torque></controller>";

TEST(Car, SaysWhatIsWrong) {
  const std::string limit = error_of_world(car("ackermann", "<max_steer_ang_deg>89.4</max_steer_ang_deg>"));
  EXPECT_TRUE(has(limit, ":1:") && has(limit, "<max_steer_ang_deg>: found 89.4, expected >= 0 and < 89.4"))
      << limit;
  EXPECT_EQ(error_of_world(car("ackermann", "<max_steer_ang_deg>89.3</max_steer_ang_deg>")), "");
  const std::string base =
      error_of_world(car("ackermann", "", "0 0 0", "<f_wheels_x>0</f_wheels_x><f_wheels_d>2</f_wheels_d>"));
  EXPECT_TRUE(has(base, "expected a wheelbase above 0")) << base;
  const std::string same =
      error_of_world(car("ackermann", "", "0 0 0", "<f_wheels_x>0</f_wheels_x><f_wheels_d>1.1</f_wheels_d>"));
  EXPECT_TRUE(has(same, "wheels rl_wheel and fl_wheel are at the same place")) << same;
  const std::string track = error_of_world(car("ackermann", "", "0 0 0", "<f_wheels_d>0</f_wheels_d>"));
  EXPECT_TRUE(has(track, "<f_wheels_d>: found 0, expected > 0")) << track;
  const std::string pid = error_of_world(car("ackermann", "<controller class='twist_pid'/>"));
  EXPECT_TRUE(has(pid, "expected one of raw, twist_ideal, twist_front_steer_pid, front_steer_pid")) << pid;
}

TEST(Car, DefaultsAndTheOldName) {
  const auto model = model_of(
      "<vehicle><init_pose>0 0 0</init_pose><dynamics class='car_ackermann'>"
      "<fl_wheel pos='5 5' mass='3'/></dynamics></vehicle>");
  const VehicleModel& v = model->vehicles[0];
  EXPECT_EQ(v.dynamics->name(), "ackermann");
  EXPECT_EQ(v.controller->name(), "raw");
  EXPECT_EQ(v.wheels[2].position, (Vec2{1.3, 1}));
  EXPECT_EQ(v.wheels[3].position, (Vec2{1.3, -1}));
  EXPECT_EQ(v.wheels[0].position, (Vec2{0, 0.9}));
  EXPECT_EQ(model->params[v.body_params + kChassisMass].nominal, 500);
  size_t missing = 0;
  for (const std::string& warning : model->warnings)
    missing += has(warning, "_wheel>: its defaults are taken");
  EXPECT_EQ(missing, 3u);
}

TEST(Car, SteeredCarsWithoutTwistRefuseOne) {
  Simulation sim(model_of(car("ackermann", "<controller class='front_steer_pid'/>")), 0);
  EXPECT_THROW(sim.set_twist(0, 1, 0), Error);
}

TEST(Car, FirstCommandOfTheFile) {
  Simulation twist(
      model_of(car("ackermann", "<controller class='twist_front_steer_pid'><V>1</V><W>90</W></controller>")),
      0);
  EXPECT_EQ(twist.state().vehicles[0].command[0], 1);
  EXPECT_NEAR(twist.state().vehicles[0].command[1], kPi / 2, 1e-12);
  Simulation raw(model_of(car("ackermann",
                              "<controller class='raw'><fl_torque>-20</fl_torque><fr_torque>-10</fr_torque>"
                              "<steer_ang_deg>5</steer_ang_deg></controller>")),
                 0);
  raw.run(1);
  EXPECT_EQ(wheel_states(raw, 0)[2].torque, 20);
  EXPECT_EQ(wheel_states(raw, 0)[3].torque, 10);
  EXPECT_GT(vehicle_twist(raw, 0).vx, 0.05);
  EXPECT_GT(vehicle_pose(raw, 0).yaw, 0);
}

TEST(Car, TwistFrontSteerPid) {
  Simulation sim(
      model_of("<simul_timestep>0.001</simul_timestep>" +
               car("ackermann",
                   "<max_steer_ang_deg>60</max_steer_ang_deg><controller class='twist_front_steer_pid'>"
                   "<KP>1000</KP><max_torque>300</max_torque></controller>")),
      0);
  sim.set_twist(0, 1, 1);
  sim.run(1);
  const Pose3 pose = vehicle_pose(sim, 0);
  EXPECT_NEAR(pose.x, 0.841, 0.25);
  EXPECT_NEAR(pose.y, 0.459, 0.25);
  EXPECT_NEAR(pose.yaw, 1, 0.25);
}

// The rear axle's middle follows a circle of radius L / tan(steer).
TEST(Car, DrivesTheCircleOfItsSteering) {
  for (const double degrees : {10.0, -25.0}) {
    Simulation sim(model_of(kStep + car("ackermann",
                                        "<controller class='front_steer_pid'><KP>200</KP><KI>40</KI>"
                                        "<max_torque>300</max_torque></controller>")),
                   0);
    const double steer = degrees * kDegree, radius = 1.4 / std::tan(steer);
    const double command[] = {1.0, steer};
    sim.set_command(0, command);
    sim.run(8);
    EXPECT_NEAR(vehicle_twist(sim, 0).vx, 1, 0.02);
    EXPECT_NEAR(vehicle_twist(sim, 0).vx / vehicle_twist(sim, 0).omega, radius, 0.02 * std::fabs(radius));
    EXPECT_NEAR(norm(Vec2{vehicle_pose(sim, 0).x, vehicle_pose(sim, 0).y - radius}), std::fabs(radius), 0.05);
  }
}

// A thin post beside the front wheel: clear of it when it points ahead, inside its box when it is turned.
TEST(Car, BoxesOfSteeredWheelsCollide) {
  const std::string post =
      "<block name='post'><static>true</static><init_pose>1.56 0.72 0</init_pose>"
      "<shape><pt>-.02 -.02</pt><pt>-.02 .02</pt><pt>.02 .02</pt><pt>.02 -.02</pt></shape></block>";
  const auto touches = [&](double degrees) {
    Simulation sim(model_of("<collision_threshold>0.005</collision_threshold>" + kStep + post +
                            car("ackermann", "<controller class='front_steer_pid'/>")),
                   0);
    const double command[] = {0, degrees * kDegree};
    sim.set_command(0, command);
    for (int i = 0; i < 3; ++i) sim.step();
    return had_collision(sim, 0);
  };
  EXPECT_FALSE(touches(0));
  EXPECT_TRUE(touches(25));
  EXPECT_FALSE(touches(-25)) << "turned away";
}

TEST(Car, FreeMotionIsThatOfTheSolver) {
  const auto model = model_of(kStep + car("ackermann", kTwistPid));
  Simulation free(model, 0), solved(model, 0);
  solved.set_always_solver(true);
  for (Simulation* sim : {&free, &solved})
    for (int i = 0; i < 10; ++i) {
      sim->set_twist(0, 1.5, 0.2 * (i % 5) - 0.4);
      sim->run(0.5);
    }
  EXPECT_EQ(vehicle_pose(free, 0).x, vehicle_pose(solved, 0).x);
  EXPECT_EQ(vehicle_pose(free, 0).yaw, vehicle_pose(solved, 0).yaw);
}

// Scraping along a wall with turned wheels: a copy goes on bit for bit.
TEST(Car, ACopyInContactContinues) {
  const std::string wall =
      "<block name='wall'><static>true</static><init_pose>3 1.2 20</init_pose>"
      "<shape><pt>-4 -.1</pt><pt>-4 .1</pt><pt>6 .1</pt><pt>6 -.1</pt></shape></block>";
  Simulation sim(model_of(kStep + wall + car("ackermann", kTwistPid)), 0);
  sim.set_twist(0, 1, 0.4);
  sim.run(2);
  ASSERT_TRUE(had_collision(sim, 0));
  sim.refill_solver();
  Simulation copy = sim;
  for (Simulation* s : {&sim, &copy}) {
    s->set_twist(0, -0.5, -0.3);
    s->run(1);
  }
  EXPECT_EQ(vehicle_pose(sim, 0).x, vehicle_pose(copy, 0).x);
  EXPECT_EQ(vehicle_pose(sim, 0).y, vehicle_pose(copy, 0).y);
  EXPECT_EQ(vehicle_pose(sim, 0).yaw, vehicle_pose(copy, 0).yaw);
}

}  // namespace
}  // namespace mvsim::test::car_test
