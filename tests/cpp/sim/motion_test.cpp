// Motion in free space against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::motion_test {
namespace {

TEST(Motion, RunEndsWithAShorterStep) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  sim.run(0.012);
  EXPECT_EQ(sim.state().step_count, 3u);
  EXPECT_NEAR(sim.state().time, 0.012, 1e-12);
}

// Returns a world with a robot of the size of an e-puck. In one step the default C_damping would take 24
// times the angular momentum of its wheels.
std::string small_robot(const std::string& controller, const std::string& friction, double timestep) {
  return "<simul_timestep>" + std::to_string(timestep) + "</simul_timestep>" +
         vehicle("differential",
                 "<l_wheel pos='0 .0265' mass='.01' width='.004' diameter='.041'/>"
                 "<r_wheel pos='0 -.0265' mass='.01' width='.004' diameter='.041'/>"
                 "<chassis mass='.13' zmin='.005' zmax='.05'><shape><pt>-.03 -.025</pt><pt>-.03 .025</pt>"
                 "<pt>.03 .025</pt><pt>.03 -.025</pt></shape></chassis>" +
                     controller,
                 "<friction class='" + friction + "'/>");
}

TEST(Motion, SmallRobotsKeepTheirWheels) {
  for (const char* friction : {"default", "ellipse", "wardiagnemma", "vti"})
    for (const double timestep : {0.001, 0.005, 0.01, 0.02}) {
      Simulation ideal(model_of(small_robot(kIdeal, friction, timestep)), 0);
      ideal.set_twist(0, 0.1, 0);
      double fastest = 0;
      for (int i = 0; i < 2 / timestep; ++i) {
        ideal.step();
        for (const WheelState& w : wheel_states(ideal, 0)) fastest = std::max(fastest, std::fabs(w.spin));
      }
      EXPECT_LT(fastest, 1.01 * 0.1 / 0.0205) << friction << " " << timestep;
      EXPECT_NEAR(vehicle_pose(ideal, 0).x, 0.2, 1e-3 + 0.1 * timestep) << friction << " " << timestep;

      // thrown without drive: it comes to rest, forward
      Simulation raw(model_of(small_robot("<controller class='raw'/>", friction, timestep)), 0);
      raw.set_command(0, std::vector<double>{-0.002, -0.002});
      raw.run(0.4);
      const double speed = vehicle_twist(raw, 0).vx;
      EXPECT_GT(speed, 1e-3) << friction << " " << timestep;
      EXPECT_LT(speed, 0.5) << friction << " " << timestep;
      raw.set_command(0, std::vector<double>{0, 0});
      double min = 1;
      for (int i = 0; i < 4 / timestep; ++i) {
        raw.step();
        min = std::min(min, vehicle_twist(raw, 0).vx);
      }
      EXPECT_GT(min, -1e-4) << friction << " " << timestep;
      EXPECT_LT(vehicle_twist(raw, 0).vx, 0.02 * speed) << friction << " " << timestep;
    }
}

TEST(Motion, RollingResistanceBringsAVehicleToRest) {
  for (const char* friction : {"default", "ellipse", "wardiagnemma", "vti"})
    for (const double timestep : {0.002, 0.005, 0.02}) {
      Simulation sim(model_of("<simul_timestep>" + std::to_string(timestep) + "</simul_timestep>" +
                              vehicle("differential_4_wheels", "",
                                      "<friction class='" + std::string(friction) +
                                          "'><C_rr>0.1</C_rr></friction><init_vel>1 0 0</init_vel>")),
                     0);
      sim.run(6);
      const double x = vehicle_pose(sim, 0).x;
      EXPECT_LT(std::fabs(vehicle_twist(sim, 0).vx), 1e-4) << friction << " " << timestep;
      sim.run(2);
      EXPECT_NEAR(vehicle_pose(sim, 0).x, x, 1e-4) << friction << " " << timestep;
    }
}

TEST(Motion, DurationsAddUpOverCalls) {
  const auto run = [](double timestep, double duration, int calls) {
    Simulation sim(model_of("<simul_timestep>" + std::to_string(timestep) + "</simul_timestep>" +
                            bot("r", kIdeal, kOrigin)),
                   0);
    for (int i = 0; i < calls; ++i) sim.run(duration);
    return sim;
  };
  EXPECT_NEAR(run(0.005, 0.00505, 1000).state().time, 5.05, 1e-12);
  EXPECT_EQ(run(1e-5, 5e-5, 1).state().step_count, 5u);
  EXPECT_NEAR(run(1e-5, 5e-5, 1000).state().time, 0.05, 1e-14);
  // 0.005f is not exactly one step of 0.005 s. The rest is carried over: no time is lost, no tiny step is
  // made.
  const float step = 0.005f;
  const Simulation sim = run(0.005, step, 1000);
  EXPECT_EQ(sim.state().step_count, 1000u);
  EXPECT_NEAR(sim.state().time, 1000 * static_cast<double>(step), 5e-6);
  // 4 us is too short for a step and is carried over until the sum makes one
  EXPECT_EQ(run(0.005, 4e-6, 1).state().step_count, 0u);
  EXPECT_NEAR(run(0.005, 4e-6, 1000).state().time, 4e-3, 5e-6);
}

TEST(Motion, WhatIsCarriedGoesIntoCopiesAndSnapshots) {
  const auto model = model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin));
  Simulation sim(model, 0);
  for (int i = 0; i < 3; ++i) sim.run(4e-6);
  Simulation copy(sim), restored(model, 1);
  restored.restore(sim.snapshot());
  for (Simulation* s : {&sim, &copy, &restored}) s->run(4e-6);
  EXPECT_EQ(sim.state().step_count, 2u);
  EXPECT_EQ(copy.state().time, sim.state().time);
  EXPECT_EQ(restored.state().time, sim.state().time);
  restored.reset(0, 0);
  restored.run(4e-6);
  EXPECT_EQ(restored.state().step_count, 0u) << "a reset forgets what was carried";
}

TEST(Motion, ARunThatIsStoppedCarriesNothing) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  EXPECT_THROW(sim.run(1, [] { throw Error("stop"); }), Error);
  sim.run(0.005);
  EXPECT_EQ(sim.state().step_count, 2u);
}

TEST(Motion, TheClockDoesNotAddUpRounding) {
  Simulation sim(model_of("<simul_timestep>0.0001</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  sim.run(100);
  EXPECT_EQ(sim.state().step_count, 1000000u);
  EXPECT_NEAR(sim.state().time, 100, 1e-13);
}

TEST(Motion, IdealTwistIsExactAndLagsOneStep) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kIdeal, kOrigin)), 0);
  sim.set_twist(0, 1, 1);
  sim.step();
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 1, 1e-6);
  EXPECT_NEAR(vehicle_twist(sim, 0).vy, 0, 1e-6);
  EXPECT_EQ(vehicle_pose(sim, 0).x, 0);
  sim.run(1);
  const double turned = 1.0;
  EXPECT_NEAR(vehicle_pose(sim, 0).yaw, turned, 1e-3);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, std::sin(turned), 4e-3);
  EXPECT_NEAR(vehicle_pose(sim, 0).y, 1 - std::cos(turned), 4e-3);
}

TEST(Motion, WheelsTakeTheirShareOfTheMomentum) {
  // 15 + 2 * 2 kg, I 0.04, R 0.2: the wheels add 2 I / R^2 = 2 kg
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                          bot("r", "", "<init_pose>0 0 90</init_pose><init_vel>1 0 0</init_vel>")),
                 0);
  sim.run(3);
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 19.0 / 21.0, 2e-3);
  EXPECT_GT(vehicle_pose(sim, 0).y, 2.5);  // body frame: the initial velocity points along world y
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 0, 1e-3);
}

TEST(Motion, EllipseNeverExceedsItsStart) {
  std::string thrown = bot("r", "", "<init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel>");
  const std::string tire = R"(class="default"><mu>0.8</mu>)";
  thrown.replace(thrown.find(tire), tire.size(), R"(class="ellipse">)");
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + thrown), 0);
  for (int i = 0; i < 600; ++i) {
    sim.step();
    ASSERT_LT(vehicle_twist(sim, 0).vx, 1) << "step " << i;
  }
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 19.0 / 21.0, 5e-3);
}

TEST(Motion, AVehicleWithoutControllerRests) {
  Simulation sim(model_of(bot("r", "", kOrigin)), 0);
  sim.run(2);
  EXPECT_EQ(vehicle_pose(sim, 0).x, 0);
  EXPECT_EQ(vehicle_pose(sim, 0).yaw, 0);
}

TEST(Motion, TwistPidReachesItsSetpointAndStops) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + bot("r", kPid, kOrigin)), 0);
  sim.set_twist(0, 0.7, 0.4);
  sim.run(4);
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 0.7, 0.01);
  EXPECT_NEAR(vehicle_twist(sim, 0).omega, 0.4, 0.01);
  double lowest = 1;
  sim.set_twist(0, 0, 0);
  for (int i = 0; i < 600; ++i) {
    sim.step();
    lowest = std::min(lowest, vehicle_odometry_twist(sim, 0).vx);
  }
  EXPECT_GT(lowest, -1e-3);  // braking never reverses
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, 0, 0.051);
}

TEST(Motion, RawTorqueIsNegativeForward) {
  Simulation sim(model_of(bot("r", R"(<controller class="raw"/>)", kOrigin)), 0);
  const double command[] = {-1, -1};
  sim.set_command(0, command);
  sim.run(1);
  EXPECT_GT(vehicle_pose(sim, 0).x, 0.1);
  EXPECT_GT(wheel_states(sim, 0)[0].torque, 0);
  EXPECT_THROW(sim.set_twist(0, 1, 0), Error);
  const double nan[] = {NAN, 0};
  EXPECT_THROW(sim.set_command(0, nan), Error);
}

TEST(Motion, PlacedVehicleStartsAtRestThere) {
  Simulation sim(model_of(bot("r", kIdeal, "<init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel>")), 0);
  sim.run(0.1);
  sim.place_vehicle(0, {5, 6, 1});
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 5, 1e-6);
  EXPECT_EQ(vehicle_twist(sim, 0).vx, 0);
}

}  // namespace
}  // namespace mvsim::test::motion_test
