// Drives as datasheets describe them, from the tags of a vehicle to its motion.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/drive.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"
#include "vehicle/car.h"

namespace mvsim::test::drive_test {
namespace {

constexpr const char* kLimits =
    "<limits><linear max_velocity='1' max_acceleration='2' max_deceleration='-4' max_jerk='40'/>"
    "<angular><max_velocity>2</max_velocity> <max_acceleration>5</max_acceleration></angular></limits>";
constexpr const char* kMotor =
    "<motor stall_torque='0.5' no_load_speed='300' gear_ratio='10' efficiency='0.8' rotor_inertia='1e-5'/>";

// A robot of 1:1 size of a Jackal (Clearpath J100): wheels of 0.196 m at (+-0.131, +-0.18779).
std::string skid_robot(double half_base, double half_track, double radius, const std::string& friction,
                       const std::string& more, const std::string& controller = "twist_pid") {
  std::string wheels;
  for (const auto& [tag, x, y] : {std::tuple{"lf", 1, 1}, {"rf", 1, -1}, {"lr", -1, 1}, {"rr", -1, -1}})
    wheels += "<" + std::string(tag) + "_wheel pos='" + std::to_string(x * half_base) + " " +
              std::to_string(y * half_track) + "' mass='0.5' width='0.04' diameter='" +
              std::to_string(2 * radius) + "'/>";
  return vehicle(
      "differential_4_wheels",
      wheels +
          "<chassis mass='15'><shape><pt>-.2 -.15</pt><pt>-.2 .15</pt><pt>.2 .15</pt><pt>.2 -.15</pt>"
          "</shape></chassis><controller class='" +
          controller + "'><KP>4</KP><KI>40</KI><max_torque>20</max_torque></controller>",
      "<friction class='skid'><mu>0.7</mu>" + friction + "</friction>" + more);
}

double turn_rate(const std::string& world, double vx, double omega, double seconds = 6) {
  Simulation sim(model_of(world), 1);
  sim.set_twist(0, vx, omega);
  sim.run(seconds - 1);
  double sum = 0;
  int count = 0;
  sim.run(1, [&] { sum += vehicle_twist(sim, 0).omega, ++count; });
  return sum / count;
}

// The sides of a robot that skids as it turns run as if its track were 1 + k^2 (a/b)^2 times as wide.
TEST(Drive, SkidSteeredRobotsTurnByTheirApparentTrack) {
  const double expansion = 1 + std::pow(0.131 / 0.18779, 2);
  for (const double omega : {0.3, 1.0, 2.0}) {
    const double found = turn_rate(skid_robot(0.131, 0.18779, 0.098, "", ""), 0, omega);
    EXPECT_NEAR(found, omega / expansion, 0.01 * omega) << omega;
  }
  const double given =
      turn_rate(skid_robot(0.131, 0.18779, 0.098, "<icr_expansion>1.9</icr_expansion>", ""), 0, 1);
  EXPECT_NEAR(given, 1 / 1.9, 0.01);
  EXPECT_NEAR(turn_rate(skid_robot(0.131, 0.18779, 0.098, "", ""), 0.5, 0.6), 0.6 / expansion, 0.02);
}

// A robot of the size of a Jackal whose mass is off the middle, so that its axles carry different loads.
std::string uneven_robot(double com_x, const std::string& more, double dt) {
  std::string world = skid_robot(0.131, 0.18779, 0.098, "<icr_expansion>1.5</icr_expansion>",
                                 "<kinematics wheel_separation_multiplier='1.5'/><load_transfer/>" + more);
  const std::string chassis = "<chassis mass='15'";
  world.replace(world.find(chassis), chassis.size(),
                chassis + " com_x='" + std::to_string(com_x) + "' com_z='0.13'");
  return "<simul_timestep>" + std::to_string(dt) + "</simul_timestep>" + world;
}

constexpr const char* kCoupled = "<coupled_sides>true</coupled_sides>";

// Coupled, the robot turns as commanded at any time step. Free, the lighter wheel spins faster, and it turns
// too little.
TEST(Drive, CoupledSidesTurnAsCommandedUnderUnevenLoads) {
  for (const double vx : {0.0, 0.3}) {
    const double exact = turn_rate(uneven_robot(0.012, kCoupled, 0.0005), vx, 0.6);
    EXPECT_NEAR(exact, 0.6, 0.03);
    for (const double dt : {0.001, 0.002})
      EXPECT_NEAR(turn_rate(uneven_robot(0.012, kCoupled, dt), vx, 0.6), exact, 1e-3) << dt;
    for (const double dt : {0.005, 0.01})
      EXPECT_NEAR(turn_rate(uneven_robot(0.012, kCoupled, dt), vx, 0.6), 0.6, 0.03) << dt;
    EXPECT_LT(turn_rate(uneven_robot(0.012, "", 0.002), vx, 0.6), 0.54);
  }
  EXPECT_EQ(turn_rate(uneven_robot(0.012, "<coupled_sides>false</coupled_sides>", 0.005), 0.3, 0.6),
            turn_rate(uneven_robot(0.012, "", 0.005), 0.3, 0.6));
}

// Under uneven loads the centre of rotation moves by x0 to the loaded axle. The balance of moments about it
// gives the speed of the sides, omega b (1 + k^2 (a^2 - x0^2) / b^2).
TEST(Drive, CoupledSidesRunByTheBalanceAboutTheCentreOfRotation) {
  constexpr double a = 0.131, b = 0.18779, k2 = 0.5 * b * b / (a * a);
  for (const double com_x : {0.012, -0.03}) {
    Simulation sim(model_of(uneven_robot(com_x, kCoupled, 0.002)), 1);
    sim.set_twist(0, 0, 0.6);
    sim.run(6);
    const Twist2 twist = vehicle_twist(sim, 0);
    const double x0 = -twist.vy / twist.omega;
    EXPECT_GT(x0 * com_x, 0);
    for (size_t i = 0; i < 4; ++i) {
      const double rim = 0.098 * sim.state().wheels[i].spin;
      EXPECT_NEAR(std::fabs(rim), twist.omega * b * (1 + k2 * (a * a - x0 * x0) / (b * b)), 2e-3) << com_x;
    }
  }
}

// Clearpath's own wheel_separation_multiplier of the Jackal J100 is 1.5, of the Husky A200 1.875: under
// it a robot turns as commanded, whether its friction is the same in all directions or fitted.
TEST(Drive, PublishedMultipliersOfJackalAndHuskyFitTheGeometry) {
  const auto multiplier = [](const char* value) {
    return "<kinematics wheel_separation_multiplier='" + std::string(value) + "'/>";
  };
  for (const double omega : {0.5, 1.0}) {
    EXPECT_NEAR(turn_rate(skid_robot(0.131, 0.18779, 0.098, "", multiplier("1.5")), 0, omega), omega,
                0.05 * omega);
    EXPECT_NEAR(turn_rate(skid_robot(0.256, 0.2775, 0.1651, "", multiplier("1.875")), 0, omega), omega,
                0.05 * omega);
    EXPECT_NEAR(turn_rate(skid_robot(0.256, 0.2775, 0.1651, "<icr_expansion>1.875</icr_expansion>",
                                     multiplier("1.875")),
                          0, omega),
                omega, 0.01 * omega);
  }
}

TEST(Drive, BelievedRadiiScaleTheSpeed) {
  const std::string world = skid_robot(0.131, 0.18779, 0.098, "",
                                       "<kinematics left_wheel_radius_multiplier='1.25' "
                                       "right_wheel_radius_multiplier='1.25'/>");
  Simulation sim(model_of(world), 1);
  sim.set_twist(0, 0.5, 0);
  sim.run(5);
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 0.4, 1e-3);
}

TEST(Drive, LimitsBoundWhatAControllerFollows) {
  Simulation sim(model_of(vehicle("differential", "<controller class='twist_ideal'/>", kLimits)), 1);
  sim.set_twist(0, 3, 9);
  double last = 0, last_change = 0;
  for (int i = 0; i < 400; ++i) {
    sim.step(0.005);
    const Twist2 twist = vehicle_twist(sim, 0);
    EXPECT_LE(twist.vx, 1 + 1e-7);  // single precision of the body
    EXPECT_LE(twist.omega, 2 + 1e-6);
    EXPECT_LE(twist.vx - last, 2 * 0.005 + 1e-7);
    EXPECT_LE(twist.vx - last - last_change, 40 * 0.005 * 0.005 + 1e-7);
    last_change = twist.vx - last, last = twist.vx;
  }
  EXPECT_NEAR(last, 1, 1e-7);
  sim.set_twist(0, 0, 0);
  sim.run(0.2);
  // 20 steps of growing deceleration, then 20 steps of 4 m/s2
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 1 - 40 * 0.005 * 0.005 * 20 * 21 / 2 - 4 * 0.1, 1e-6);
}

TEST(Drive, CommandsArriveLate) {
  const std::string world =
      vehicle("differential", "<controller class='twist_ideal'/>", "<command_delay>0.0325</command_delay>");
  Simulation sim(model_of(world), 1);
  sim.set_twist(0, 1, 0);
  sim.run(1);
  // an ideal controller sets its twist at the end of a step
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 1 - 0.005 - 0.0325, 1e-6);
  EXPECT_EQ(sim.state().vehicles[0].command[0], 1);
  EXPECT_EQ(command_in_force(sim.model(), sim.state(), 0)[0], 1);
}

// A free wheel under full effort reaches the no-load speed of motor and gear, and the time constant of the
// spin-up is I / slope: w = w0 (1 - (1 - dt slope / I)^n) in n steps.
TEST(Drive, AMotorTurnsAFreeWheelByItsCurve) {
  const std::string world =
      vehicle("differential",
              "<l_wheel pos='0 .3' mass='1' diameter='.2' inertia='0.01'/><r_wheel pos='0 -.3' mass='1' "
              "diameter='.2' inertia='0.01'/>",
              std::string("<friction class='skid'><mu>0</mu></friction>") + kMotor);
  Simulation sim(model_of(world), 1);
  const double command[] = {-1e3, -1e3};  // more than the motor has
  sim.set_command(0, command);
  const double slope = 0.5 * 10 * 0.8 * 10 / 300, inertia = 0.01 + 100 * 1e-5;
  sim.run(0.05);
  EXPECT_NEAR(wheel_states(sim, 0)[0].spin, 30 * (1 - std::pow(1 - 0.005 * slope / inertia, 10)), 1e-6);
  sim.run(3);
  EXPECT_NEAR(wheel_states(sim, 0)[0].spin, 30, 1e-6);
}

void without_air(Simulation& sim) {
  sim.set_param(sim.model().find_params("vehicle:*/chassis/linear_damping").at(0), 0);
}

TEST(Drive, AMotorWhoseTorqueIsControlledKeepsItUpToTheCurve) {
  const std::string motor =
      std::string(kMotor).replace(std::string(kMotor).size() - 2, 2, " torque_control='true'/>");
  const std::string world =
      vehicle("differential", "", "<friction class='default'><C_damping>0</C_damping></friction>" + motor);
  Simulation sim(model_of(world), 1);
  without_air(sim);
  const double command[] = {-3, -3};  // 3 N m of at most 4
  sim.set_command(0, command);
  sim.step();
  EXPECT_EQ(wheel_states(sim, 0)[0].torque, 3);
  sim.run(30);
  EXPECT_NEAR(wheel_states(sim, 0)[0].spin, 30, 0.05);
}

TEST(Drive, AnEngineTurnsAtTheMeanSpeedOfItsWheels) {
  const std::string world = car("ackermann_drivetrain", "<drivetrain type='open_rear'/>");
  const std::string motor = "<motor stall_torque='20' no_load_speed='100' gear_ratio='5'/>";
  Simulation sim(model_of(world.substr(0, world.rfind("</vehicle>")) + motor + "</vehicle>"), 1);
  without_air(sim);
  const double command[] = {-1e4, 0};
  sim.set_command(0, command);
  sim.step();
  double sum = 0;
  for (const WheelState& wheel : wheel_states(sim, 0)) sum += wheel.torque;
  EXPECT_NEAR(sum, 100, 1e-9);
  sim.run(60);
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 20 * 0.25, 0.05);
}

TEST(Drive, ASteeringServoTakesItsTime) {
  const std::string world = car("ackermann", "<controller class='front_steer_pid'/>");
  const auto with = [&](const std::string& tags) {
    return world.substr(0, world.rfind("</vehicle>")) + tags + "</vehicle>";
  };
  Simulation sim(model_of(with("<servo rate='20'/>")), 1);
  const double command[] = {0.5, 0.4};
  sim.set_command(0, command);
  sim.run(0.5);
  const double left = wheel_states(sim, 0)[2].steer, right = wheel_states(sim, 0)[3].steer;
  const double middle = std::atan(2 / (1 / std::tan(left) + 1 / std::tan(right)));
  EXPECT_NEAR(middle, 10 * kDegree, 1e-9);
}

// A race car in the tenth scale (F1TENTH): with its published inertia, m a^2 / I is 2.2. Forces that end the
// sideways motion of each wheel in one step then turn the car beyond rest, farther each time.
std::string race_car(double inertia, const std::string& friction, const std::string& controller, double dt) {
  std::string wheels;
  for (const char* tag :
       {"rl_wheel pos='-0.17145 0.125'", "rr_wheel pos='-0.17145 -0.125'", "fl_wheel", "fr_wheel"})
    wheels += "<" + std::string(tag) + " mass='0.1' inertia='0.00013' width='0.045' diameter='0.1016'/>";
  return "<simul_timestep>" + std::to_string(dt) + "</simul_timestep>" +
         vehicle("ackermann_drivetrain",
                 wheels + "<f_wheels_x>0.15875</f_wheels_x><f_wheels_d>0.25</f_wheels_d>" +
                     "<drivetrain type='open_4wd'/><chassis mass='3.34' inertia='" + std::to_string(inertia) +
                     "' com_x='0' com_y='0'><shape><pt>-.2 -.12</pt><pt>-.2 .12</pt><pt>.2 .12</pt>"
                     "<pt>.2 -.12</pt></shape></chassis>" +
                     controller,
                 friction);
}

TEST(Drive, ACarOfSmallInertiaDoesNotSwing) {
  const char* const controller =
      "<controller "
      "class='twist_front_steer_pid'><KP>1.5</KP><KI>0.5</KI><max_torque>1.5</max_torque></controller>";
  for (const char* const tires : {"default", "wardiagnemma"})
    for (const double inertia : {0.01, 0.03, 0.2})
      for (const double dt : {0.001, 0.005, 0.01}) {
        const std::string friction =
            "<friction class='" + std::string(tires) + "'><mu>1.0489</mu></friction>";
        Simulation sim(model_of(race_car(inertia, friction, controller, dt)), 1);
        sim.set_twist(0, 1, 0.8);
        sim.run(3);
        double low = 1e9, high = -1e9;
        sim.run(0.5, [&] {
          const Twist2 twist = vehicle_twist(sim, 0);
          low = std::min(low, twist.omega), high = std::max(high, twist.omega);
        });
        EXPECT_LT(high - low, 0.02) << tires << ' ' << inertia << ' ' << dt;
      }
}

// Everything at once continues from a snapshot bit for bit.
TEST(Drive, SnapshotsHoldWhatADriveRemembers) {
  const std::string robot = skid_robot(0.131, 0.18779, 0.098, "",
                                       std::string(kLimits) + kMotor +
                                           "<kinematics wheel_separation_multiplier='1.5'/>"
                                           "<command_delay>0.0325</command_delay>");
  const std::string world = car("ackermann", "<controller class='front_steer_pid'/>", "5 5 0");
  const auto model =
      model_of(robot + world.substr(0, world.rfind("</vehicle>")) +
               "<servo rate='60' time_constant='0.1'/><command_delay>0.1</command_delay></vehicle>");
  Simulation sim(model, 3);
  const auto drive = [](Simulation& s) {
    Hash hash;
    for (int i = 0; i < 100; ++i) {
      const double speed = 0.1 * static_cast<double>(s.state().step_count % 17);
      const double car[] = {speed, 0.3 - speed / 3};
      s.set_twist(0, speed, 1 - speed);
      s.set_command(1, car);
      s.step(s.state().step_count % 5 == 0 ? 0.003 : 0.005);
      mix_state(s, hash);
    }
    return hash.value();
  };
  drive(sim);
  const std::string bytes = sim.snapshot();
  const uint64_t expected = drive(sim);
  Simulation other(model, 77);
  drive(other);
  other.restore(bytes);
  EXPECT_EQ(drive(other), expected);
}

// A snapshot taken while a servo turns, in a simulation that has cached nothing or caches of another turn,
// and after the steering limit fell below the servo's angle.
TEST(Drive, SnapshotsHoldATurnOfAServo) {
  for (const char* const controller : {"twist_front_steer_pid", "front_steer_pid", "raw"}) {
    const std::string world = car("ackermann", "<controller class='" + std::string(controller) + "'/>");
    const auto model =
        model_of("<simul_timestep>0.01</simul_timestep>" + world.substr(0, world.rfind("</vehicle>")) +
                 "<servo rate='60' time_constant='0.1'/></vehicle>");
    const size_t limit = model->vehicles[0].dynamics_params + kMaxSteer;
    const auto drive = [&](Simulation& s, double sign, int steps) {
      const double command[] = {1.5, 0.6 * sign, 0.3 * sign};
      s.set_command(0, {command, model->vehicles[0].controller->command().size()});
      Hash hash;
      for (int i = 0; i < steps; ++i) {
        s.step();
        mix_state(s, hash);
        // the ground may hide a torque that differs in its last bits
        for (const WheelState& wheel : wheel_states(s, 0)) hash.mix(wheel.torque);
      }
      return hash.value();
    };
    for (const int before : {1, 2, 3, 5, 8, 13})
      for (const double most : {30 * kDegree, 2 * kDegree}) {
        Simulation sim(model, 3), fresh(model, 3), other(model, 3);
        drive(sim, 1, 300);  // to its speed, where the PID is not limited
        drive(sim, -1, before);
        ASSERT_NE(wheel_states(sim, 0)[kFrontLeft].steer, 0);
        sim.set_param(limit, most);
        const std::string bytes = sim.snapshot();
        drive(other, -1, 5);
        fresh.restore(bytes);
        other.restore(bytes);
        const uint64_t expected = drive(sim, 0.3, 50);
        EXPECT_EQ(drive(fresh, 0.3, 50), expected) << controller << ' ' << before << ' ' << most;
        EXPECT_EQ(drive(other, 0.3, 50), expected) << controller << ' ' << before << ' ' << most;
      }
  }
}

TEST(Drive, EveryNumberIsAParameter) {
  const auto model = model_of(vehicle("differential_4_wheels", "<controller class='twist_pid'/>",
                                      std::string(kLimits) + kMotor +
                                          "<kinematics wheel_separation_multiplier='1.5'/>"
                                          "<command_delay>0.0325</command_delay><friction class='skid'/>"));
  for (const auto& [path, value] : {std::pair{"limits/linear/max_acceleration", 2.0},
                                    {"limits/linear/min_velocity", -1.0},
                                    {"limits/linear/max_deceleration", -4.0},
                                    {"limits/linear/max_deceleration_reverse", 2.0},
                                    {"limits/angular/max_acceleration_reverse", -5.0},
                                    {"kinematics/wheel_separation_multiplier", 1.5},
                                    {"motor/battery_voltage", 12.0},
                                    {"command_delay", 0.0325},
                                    {"friction/icr_expansion", 1.25},
                                    {"friction/C_damping", 0.0}}) {
    const std::vector<size_t> found = model->find_params("vehicle:v/" + std::string(path));
    ASSERT_EQ(found.size(), 1u) << path;
    EXPECT_EQ(model->params[found[0]].nominal, value) << path;
  }
  EXPECT_TRUE(model->warnings.empty()) << model->warnings[0];
}

TEST(Drive, WithoutTheTagsThereIsNothingOfThem) {
  const auto model = model_of(vehicle("differential", "<controller class='twist_pid'/>"));
  EXPECT_FALSE(model->vehicles[0].drive.shapes_commands());
  for (const char* part : {"limits", "kinematics", "motor", "servo", "command_delay"})
    EXPECT_TRUE(model->find_params("vehicle:v/" + std::string(part) + "*").empty()) << part;
}

TEST(Drive, MistakesAreNamed) {
  const auto fault = [](const std::string& more, const std::string& dynamics = "differential") {
    return error_of_world(vehicle(dynamics, "", more));
  };
  EXPECT_TRUE(has(fault("<servo rate='5'/>"), "<servo>: dynamics 'differential' have no steering"));
  EXPECT_TRUE(
      has(fault("<kinematics wheel_separation_multiplier='2'/>", "ackermann"), "expected a differential"));
  EXPECT_TRUE(has(fault("<limits/>"), "<limits> is empty, expected <linear> or <angular>"));
  EXPECT_TRUE(has(fault("<limits><linear max_velocity='-1'/></limits>"), "<max_velocity>: found -1"));
  EXPECT_TRUE(has(fault("<motor stall_torque='1'/>"), "<motor> has no <no_load_speed>"));
  EXPECT_TRUE(has(fault("<motor no_load_speed='1'/>"), "<motor> has no <stall_torque>"));
  EXPECT_TRUE(
      has(fault("<motor stall_torque='1' no_load_speed='1' efficiency='1.2'/>"), "<efficiency>: found 1.2"));
  EXPECT_TRUE(has(fault("<command_delay>2</command_delay>"), "<command_delay>: found 2"));
  EXPECT_TRUE(has(fault("<coupled_sides>true</coupled_sides>"), "expected differential_4_wheels"));
  EXPECT_TRUE(has(fault("<friction class='skid'><icr_expansion>1.5</icr_expansion></friction>"),
                  "for wheels side by side"));
  EXPECT_TRUE(has(
      fault("<friction class='skid'><icr_expansion>1</icr_expansion></friction>", "differential_4_wheels"),
      "<icr_expansion>: found 1"));
}

}  // namespace
}  // namespace mvsim::test::drive_test
