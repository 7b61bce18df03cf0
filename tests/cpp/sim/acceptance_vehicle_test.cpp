// Required behaviour of vehicles of a world file: each test is a closed form or a rule of the world language.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/solver_bodies.h"
#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::acceptance_vehicle_test {
namespace {

TEST(VehicleInWorld, ClassesMustExist) {
  EXPECT_TRUE(
      has(error_of_world("<vehicle name='v'><init_pose>0 0 0</init_pose></vehicle>"), "has no <dynamics>"));
  EXPECT_TRUE(has(error_of_world(vehicle("diferential")), "did you mean 'differential'?"));
  EXPECT_TRUE(has(error_of_world(vehicle("differential", "<controller class='twist_pdi'/>")),
                  "did you mean 'twist_pid'?"));
  EXPECT_TRUE(has(error_of_world(vehicle("differential", "", "<friction class='elipse'/>")),
                  "did you mean 'ellipse'?"));
}

TEST(VehicleInWorld, ControllersBelongToTheirDynamics) {
  EXPECT_TRUE(has(error_of_world(vehicle("ackermann_drivetrain", "<controller class='twist_ideal'/>")),
                  "found class 'twist_ideal', expected one of raw, twist_front_steer_pid, front_steer_pid"));
  EXPECT_TRUE(has(error_of_world(vehicle("ackermann", "<controller class='twist_pid'/>")),
                  "found class 'twist_pid'"));
  EXPECT_TRUE(has(error_of_world(vehicle("differential", "<controller class='front_steer_pid'/>")),
                  "expected one of raw"));
}

TEST(VehicleInWorld, WithoutControllerEveryVehicleRests) {
  for (const Dynamics* dynamics : dynamics_classes()) {
    Simulation sim(model_of(vehicle(std::string(dynamics->name()))), 0);
    sim.run(2);
    EXPECT_EQ(vehicle_pose(sim, 0).x, 0) << dynamics->name();
    EXPECT_EQ(vehicle_pose(sim, 0).y, 0) << dynamics->name();
    EXPECT_EQ(vehicle_pose(sim, 0).yaw, 0) << dynamics->name();
  }
}

TEST(VehicleInWorld, DefaultFriction) {
  const auto model = model_of(vehicle("differential"));
  EXPECT_EQ(model->vehicles[0].tire->name(), "default");
  const size_t first = model->vehicles[0].tire_params;
  const double expected[] = {0.8, 0.01, 0};
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(model->params[first + i].nominal, expected[i]);
}

TEST(VehicleInWorld, MassOfTheDefaultRobot) {
  Simulation sim(model_of(vehicle("differential")), 0);
  const MassProperties mass = vehicle_mass(sim.model().vehicles[0], sim.state().params);
  EXPECT_NEAR(mass.mass, 15 + 2 * 2, 1e-12);
  EXPECT_GT(std::fabs(mass.center.x), 0.01);
}

TEST(VehicleInWorld, InertiaAndYawOfAWheel) {
  const auto model = model_of(
      vehicle("differential", "<l_wheel pos='1 2 90' mass='4' diameter='0.4'/><r_wheel pos='1 -2'/>"));
  const WheelModel& wheel = model->vehicles[0].wheels[0];
  EXPECT_NEAR(wheel.inertia, 0.08, 1e-15);
  EXPECT_NEAR(wheel.yaw, kPi / 2, 1e-15);
  EXPECT_NEAR(wheel_states(Simulation(model, 0), 0)[0].steer, kPi / 2, 1e-15);
}

TEST(VehicleInWorld, FrontAxleGoesBeforePos) {
  for (const char* dynamics : {"ackermann", "ackermann_drivetrain"}) {
    const auto model = model_of(vehicle(dynamics,
                                        "<fl_wheel pos='5 5'/><fr_wheel pos='6 -7'/>"
                                        "<f_wheels_x>1.5</f_wheels_x><f_wheels_d>1.2</f_wheels_d>"));
    EXPECT_EQ(model->vehicles[0].wheels[2].position, (Vec2{1.5, 0.6})) << dynamics;
    EXPECT_EQ(model->vehicles[0].wheels[3].position, (Vec2{1.5, -0.6})) << dynamics;
  }
}

TEST(VehicleInWorld, OutlinesOf2Or15PointsAreRefused) {
  for (const int points : {2, 15}) {
    std::string shape;
    for (int i = 0; i < points; ++i)
      shape += "<pt>" + std::to_string(std::cos(i * 0.4)) + " " + std::to_string(std::sin(i * 0.4)) + "</pt>";
    EXPECT_TRUE(
        has(error_of_world(vehicle("differential", "<chassis><shape>" + shape + "</shape></chassis>")),
            "<shape>"))
        << points;
  }
}

TEST(VehicleInWorld, AShapeFromVisualNeedsAVisual) {
  const std::string chassis = "\n<chassis><shape_from_visual/></chassis>";
  for (const char* visual : {"", "<visual/>", "<visual><model_uri> </model_uri></visual>",
                             "<visual enabled='false'><model_uri>a.dae</model_uri></visual>"})
    EXPECT_TRUE(has(error_of_world(vehicle("differential", chassis, visual)),
                    ":2:10: <shape_from_visual> in <chassis> of a vehicle without <visual>"))
        << visual;
  EXPECT_TRUE(has(error_of_world(vehicle("differential", chassis,
                                         "<visual><model_uri>no_such_mesh.dae</model_uri></visual>")),
                  "no_such_mesh.dae' does not exist"));
}

TEST(VehicleInWorld, RawAndSteeredCarsRefuseATwist) {
  for (const char* dynamics : {"differential", "ackermann", "ackermann_drivetrain"}) {
    Simulation raw(model_of(vehicle(dynamics, "<controller class='raw'/>")), 0);
    EXPECT_THROW(raw.set_twist(0, 1, 0), Error) << dynamics;
  }
  Simulation engine(model_of(vehicle("ackermann_drivetrain", "<controller class='front_steer_pid'/>")), 0);
  EXPECT_THROW(engine.set_twist(0, 1, 0), Error);
}

TEST(VehicleInWorld, IdealTwistFollowsItsCircle) {
  size_t found = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const Controller* controller : dynamics->controllers()) {
      if (controller->name() != "twist_ideal") continue;
      ++found;
      Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                              vehicle(std::string(dynamics->name()), "<controller class='twist_ideal'/>")),
                     0);
      sim.set_twist(0, 1, 1);
      sim.run(1);
      EXPECT_NEAR(vehicle_pose(sim, 0).x, std::sin(1), 5e-3) << dynamics->name();
      EXPECT_NEAR(vehicle_pose(sim, 0).y, 1 - std::cos(1), 8e-3) << dynamics->name();
      EXPECT_NEAR(vehicle_pose(sim, 0).yaw, 1, 6e-3) << dynamics->name();
    }
  EXPECT_GE(found, 4u);
}

TEST(VehicleInWorld, TwistPidDrivesOneMetre) {
  Simulation sim(
      model_of("<simul_timestep>0.001</simul_timestep>" +
               vehicle("differential",
                       "<l_wheel pos='0 0.5' mass='1' diameter='0.2'/><r_wheel pos='0 -0.5' mass='1' "
                       "diameter='0.2'/><chassis linear_damping='0' angular_damping='0'/><controller "
                       "class='twist_pid'><KP>4</KP><KI>3</KI><max_torque>20</max_torque></controller>")),
      0);
  sim.set_twist(0, 1, 0);
  sim.run(1);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 1, 0.25);
  EXPECT_NEAR(vehicle_pose(sim, 0).y, 0, 0.25);
  EXPECT_NEAR(vehicle_pose(sim, 0).yaw, 0, 0.25);
}

TEST(VehicleInWorld, NearRestAZeroSetpointGivesZeroTorque) {
  for (const char* given : {"differential/twist_pid", "ackermann/twist_front_steer_pid",
                            "ackermann_drivetrain/twist_front_steer_pid"}) {
    const std::string name = given;
    const size_t slash = name.find('/');
    Simulation sim(model_of(vehicle(name.substr(0, slash), "<controller class='" + name.substr(slash + 1) +
                                                               "'><KP>50</KP><KI>20</KI></controller>")),
                   0);
    sim.set_twist(0, 0.5, 0.1);
    sim.run(3);
    ASSERT_GT(vehicle_twist(sim, 0).vx, 0.2) << name;
    sim.set_twist(0, 0, 0);
    sim.run(10);
    for (const WheelState& wheel : wheel_states(sim, 0)) EXPECT_EQ(wheel.torque, 0) << name;
    EXPECT_LT(std::fabs(vehicle_twist(sim, 0).vx), 0.05) << name;
  }
}

TEST(VehicleInWorld, OdometryIsExactOrDrawnForEachVehicle) {
  const std::string ideal = "<controller class='twist_ideal'/>";
  const auto drive = [](Simulation& sim, size_t index) { sim.set_twist(index, 1, 0.3); };
  const std::string exact = "<odometry x_multiplier='1' y_multiplier='1' yaw_multiplier='1'/>";
  Simulation sim(model_of(vehicle("differential", ideal, exact, "a") +
                          vehicle("differential", ideal, "", "b") + vehicle("differential", ideal, "", "c")),
                 0);
  // far from each other, so that all drive freely along the same path
  sim.place_vehicle(0, {0, 0, 0});
  sim.place_vehicle(1, {0, 50, 0});
  sim.place_vehicle(2, {0, 100, 0});
  for (size_t i = 0; i < 3; ++i) drive(sim, i);
  EXPECT_EQ(sim.state().vehicles[0].odometry.x, 0);
  sim.run(1);
  EXPECT_NEAR(sim.state().vehicles[0].odometry.x, vehicle_pose(sim, 0).x, 0.006)
      << "the first increment is skipped";
  EXPECT_NEAR(sim.state().vehicles[0].odometry.yaw, vehicle_pose(sim, 0).yaw, 0.002);
  EXPECT_GT(std::fabs(sim.state().vehicles[1].odometry.x - sim.state().vehicles[2].odometry.x), 1e-4);
}

TEST(VehicleInWorld, WheelsOfOneSideShareTheirTorque) {
  Simulation sim(model_of(vehicle("differential_4_wheels", "<controller class='twist_pid'/>")), 0);
  sim.set_twist(0, 0.5, 0.7);
  sim.run(0.1);
  const std::span<const WheelState> wheels = wheel_states(sim, 0);
  EXPECT_EQ(wheels[0].torque, wheels[2].torque);
  EXPECT_EQ(wheels[1].torque, wheels[3].torque);
  EXPECT_NE(wheels[0].torque, wheels[1].torque);
}

// A vehicle 'j' of the class that these stock files define.
std::shared_ptr<const Model> jackal(const std::string& includes) {
  return compile_world(load_world_text("<mvsim_world>" + includes +
                                           "<vehicle name='j' class='jackal'><init_pose>0 0 0</init_pose>"
                                           "</vehicle></mvsim_world>",
                                       source_dir() + "/worlds", {}),
                       {});
}

TEST(VehicleInWorld, IncludeParametersOfTheJackal) {
  const auto model = jackal("<include file='definitions/jackal.vehicle.xml' controller='twist_pid'/>");
  const VehicleModel& v = model->vehicles[0];
  EXPECT_EQ(v.controller->name(), "twist_pid");
  EXPECT_EQ(model->params[model->find_params("vehicle:j/controller/KP").at(0)].nominal, 20);
  EXPECT_EQ(model->params[model->find_params("vehicle:j/controller/KI").at(0)].nominal, 10);
}

TEST(VehicleInWorld, TheLastDefinitionOfTheJackalCounts) {
  const std::string plain = "<include file='definitions/jackal.vehicle.xml'/>",
                    ellipse = "<include file='definitions/jackal-ellipse.vehicle.xml'/>";
  EXPECT_EQ(jackal(plain + ellipse)->vehicles[0].tire->name(), "ellipse");
  EXPECT_EQ(jackal(ellipse + plain)->vehicles[0].tire->name(), "default");
}

TEST(VehicleInWorld, LinkedYawNeedsItsVisual) {
  const std::string fork =
      "<visual><name>left-fork</name><model_uri>http://example.org/fork.dae</model_uri></visual>"
      "<visual><model_uri>http://example.org/body.dae</model_uri></visual>";
  const auto linked = [&](const std::string& to, const std::string& visuals) {
    return vehicle("ackermann", "\n<fl_wheel linked_yaw='" + to + "' linked_yaw_offset_deg='-90'/>", visuals,
                   "truck");
  };
  const std::string wrong = error_of_world(linked("left-frok", fork));
  EXPECT_TRUE(has(wrong,
                  ":2:11: <linked_yaw> of <fl_wheel> of the vehicle 'truck': found 'left-frok', "
                  "expected the name of one of its visuals, did you mean 'left-fork'?"));
  EXPECT_TRUE(has(error_of_world(linked("left-fork", "")),
                  "expected the name of one of its visuals; it has "
                  "none"));
  for (const char* name : {"left-fork", "group"}) {  // a visual without a name is called group
    EXPECT_EQ(error_of_world(linked(name, fork)), "") << name;
  }
}

TEST(VehicleInWorld, CollisionIsLatchedUntilReset) {
  Simulation sim(
      model_of("<block name='wall'><static>true</static><init_pose>1 0 0</init_pose><shape><pt>0 -2</pt>"
               "<pt>0 2</pt><pt>.2 2</pt><pt>.2 -2</pt></shape></block>" +
               vehicle("differential", "<controller class='twist_ideal'/>")),
      0);
  sim.set_twist(0, 1, 0);
  sim.run(1);
  EXPECT_TRUE(sim.state().vehicles[0].in_collision);
  sim.set_twist(0, -1, 0);
  sim.run(1);
  EXPECT_FALSE(sim.state().vehicles[0].in_collision);
  EXPECT_TRUE(sim.state().vehicles[0].contacts);
  sim.reset(0, 1);
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
}

TEST(VehicleInWorld, AVehicleThatStartsInAWallSaysSoBeforeItMoves) {
  Simulation sim(
      model_of("<block name='wall'><static>true</static><init_pose>.5 0 0</init_pose><shape><pt>0 -2</pt>"
               "<pt>0 2</pt><pt>.2 2</pt><pt>.2 -2</pt></shape></block>" +
               vehicle("differential")),
      0);
  sim.step();
  EXPECT_TRUE(sim.state().vehicles[0].in_collision);
}

TEST(VehicleInWorld, WheelAnglesStayBounded) {
  Simulation sim(
      model_of("<simul_timestep>0.01</simul_timestep>" + vehicle("differential", "<controller class='raw'/>",
                                                                 "<friction class='default'><mu>0</mu>"
                                                                 "<C_damping>0</C_damping></friction>")),
      0);
  const double command[] = {-100, 100};
  sim.set_command(0, command);
  double max = 0;
  bool wrapped = false;
  for (int i = 0; i < 1000; ++i) {
    const double before = wheel_states(sim, 0)[0].angle;
    sim.step();
    wrapped = wrapped || wheel_states(sim, 0)[0].angle < before;
    for (const WheelState& wheel : wheel_states(sim, 0))
      max = std::max(max, std::fabs(wheel.angle) - std::fabs(wheel.spin) * 0.01);
  }
  EXPECT_TRUE(wrapped);
  EXPECT_LE(max, 1e4);
}

// Everything that a PID drives, in both directions: torque brakes, and nothing turns round.
TEST(VehicleInWorld, AZeroSetpointNeverReverses) {
  size_t found = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const Controller* controller : dynamics->controllers()) {
      if (!controller->name().ends_with("_pid")) continue;
      ++found;
      const std::string name = std::string(dynamics->name()) + "/" + std::string(controller->name());
      for (const double direction : {1.0, -1.0}) {
        Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                                vehicle(std::string(dynamics->name()),
                                        "<controller class='" + std::string(controller->name()) +
                                            "'><KP>20</KP><KI>10</KI><max_torque>20</max_torque>"
                                            "</controller>")),
                       0);
        const double drive[] = {direction, 0.2}, stop[] = {0, 0};
        sim.set_command(0, drive);
        sim.run(5);
        ASSERT_GT(direction * vehicle_odometry_twist(sim, 0).vx, 0.3) << name;
        sim.set_command(0, stop);
        for (int i = 0; i < 2000; ++i) {
          const double before = direction * vehicle_odometry_twist(sim, 0).vx;
          sim.step();
          double torque = 0;
          for (const WheelState& wheel : wheel_states(sim, 0)) torque += direction * wheel.torque;
          ASSERT_LE(before > 0 ? torque : 0, 1e-12) << name << " step " << i;
          ASSERT_GT(direction * vehicle_twist(sim, 0).vx, -1e-3) << name << " step " << i;
        }
        EXPECT_LT(std::fabs(vehicle_twist(sim, 0).vx), 0.051) << name;
      }
    }
  EXPECT_EQ(found, 3u + 2u + 2u);
}

TEST(VehicleInWorld, TheSameCommandsGiveTheSameTrajectory) {
  const auto model = model_of(vehicle("ackermann_drivetrain", "<controller class='twist_front_steer_pid'/>"));
  Simulation one(model, 7), other(model, 8);
  for (Simulation* sim : {&one, &other}) {
    sim->set_twist(0, 1, 0.3);
    sim->run(3);
  }
  EXPECT_EQ(vehicle_pose(one, 0).x, vehicle_pose(other, 0).x);
  EXPECT_EQ(vehicle_pose(one, 0).yaw, vehicle_pose(other, 0).yaw);
}

}  // namespace
}  // namespace mvsim::test::acceptance_vehicle_test
