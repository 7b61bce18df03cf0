// What holds for every vehicle without an oracle (robustness T22): a car is its own mirror image, nothing
// gains energy that nobody drives, and smaller steps lead to one trajectory. Over random vehicles of every
// dynamics class and tire model.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "sim/body_mass.h"
#include "sim/worlds.h"

namespace mvsim::test {
namespace {

std::string text(double value) {
  return std::to_string(value);
}

// A vehicle that is its own mirror image, everything else drawn.
std::string random_vehicle(const Dynamics& dynamics, const std::string& controller, const TireModel& tire,
                           RandomStream& random, const std::string& more = "") {
  const double mass = random.uniform(0.2, 20), diameter = random.uniform(0.1, 0.8),
               width = random.uniform(0.02, 0.2);
  const double track = random.uniform(0.3, 1.5), length = random.uniform(0.3, 2),
               back = random.uniform(-0.5, 0.5);
  std::string wheels;
  for (const WheelSlot& slot : dynamics.wheel_slots()) {
    const Vec2 at = slot.default_position;
    const double side = at.y > 0 ? 1 : at.y < 0 ? -1 : 0;
    wheels += "<" + std::string(slot.tag) + " pos='" + text(at.x > 0 ? back + length : back) + " " +
              text(side * track / 2) + "' mass='" + text(mass) + "' diameter='" + text(diameter) +
              "' width='" + text(width) + "'/>";
  }
  const double nose = back + length * random.uniform(0.8, 1.3), tail = back - random.uniform(0.1, 0.5);
  const std::string half = text(track * 0.4);
  const bool is_car = dynamics.name().starts_with("ackermann");
  return "<vehicle name='v'><init_pose>0 0 0</init_pose>" + more + "<dynamics class='" +
         std::string(dynamics.name()) + "'>" + wheels +
         (is_car ? "<f_wheels_x>" + text(back + length) + "</f_wheels_x><f_wheels_d>" + text(track) +
                       "</f_wheels_d>"
                 : "") +
         "<chassis mass='" + text(random.uniform(1, 500)) +
         "' linear_damping='0' angular_damping='0'><shape><pt>" + text(tail) + " -" + half + "</pt><pt>" +
         text(tail) + " " + half + "</pt><pt>" + text(nose) + " " + half + "</pt><pt>" + text(nose) + " -" +
         half + "</pt></shape></chassis><controller class='" + controller +
         "'/></dynamics><friction class='" + std::string(tire.name()) + "'/></vehicle>";
}

double energy(const Simulation& sim) {
  const VehicleModel& v = sim.model().vehicles[0];
  const BodyInertia inertia = vehicle_inertia(v, sim.params());
  const Twist2 twist = sim.vehicle_twist(0);
  const double vx = twist.vx - twist.omega * inertia.center_y, vy = twist.vy + twist.omega * inertia.center_x;
  double sum =
      (vx * vx + vy * vy) / inertia.inverse_mass + twist.omega * twist.omega / inertia.inverse_inertia;
  for (size_t i = 0; i < v.wheels.size(); ++i)
    sum += v.wheels[i].inertia * std::pow(sim.wheels(0)[i].spin, 2);
  return sum / 2;
}

// The command that does the same to the other side.
std::vector<double> mirrored(const Controller& controller, const std::vector<double>& command) {
  std::vector<double> out = command;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string_view name = controller.command()[i].name;
    if (name == "omega" || name == "steer") out[i] = -command[i];
    if (name == "left_torque") std::swap(out[i], out[i + 1]);
  }
  return out;
}

TEST(Invariants, LeftAndRightAreMirrorImages) {
  RandomStream random(22, 0, StreamPurpose::kSpawn);
  for (const Dynamics* dynamics : dynamics_classes())
    for (const Controller* controller : dynamics->controllers())
      for (const TireModel* tire : tire_models()) {
        const auto model =
            model_of("<simul_timestep>0.005</simul_timestep>" +
                     random_vehicle(*dynamics, std::string(controller->name()), *tire, random));
        Simulation one(model, 0), other(model, 0);
        for (int i = 0; i < 20; ++i) {
          std::vector<double> command;
          for (const CommandInfo& info : controller->command())
            command.push_back(random.uniform(-1, 1) * (info.unit == "N m" ? 10 : 1));
          one.set_command(0, command);
          other.set_command(0, mirrored(*controller, command));
          one.run(0.1);
          other.run(0.1);
        }
        const Pose3 a = one.vehicle_pose(0), b = other.vehicle_pose(0);
        const std::string name = std::string(dynamics->name()) + "/" + std::string(controller->name()) + "/" +
                                 std::string(tire->name());
        EXPECT_TRUE(one.is_finite()) << name;
        // a wheel of `ellipse` that rolls without slip loses its grip: it doubles a rounding at every other
        // step
        const double within = tire->name() == "ellipse" ? 1e-2 : 1e-3;
        EXPECT_NEAR(a.x, b.x, within) << name;
        EXPECT_NEAR(a.y, -b.y, within) << name;
        EXPECT_NEAR(a.yaw, -b.yaw, within) << name;
      }
}

// Wheels roll with the speed of one step before and each stops its own share of the mass, so a vehicle whose
// mass is far from its wheels rings a little: there energy flickers, below what there was.
TEST(Invariants, EnergyNeverGrowsWithoutActuation) {
  RandomStream random(23, 0, StreamPurpose::kSpawn);
  size_t vehicles = 0, ringing = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const TireModel* tire : tire_models())
      for (int k = 0; k < 30; ++k) {
        const std::string speed = "<init_vel>" + text(random.uniform(-3, 3)) + " " +
                                  text(random.uniform(-1, 1)) + " " + text(random.uniform(-90, 90)) +
                                  "</init_vel>";
        Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                                random_vehicle(*dynamics, "raw", *tire, random, speed)),
                       0);
        const double first = energy(sim);
        double lowest = first, growth = 0;
        for (int i = 0; i < 300; ++i) {
          const double last = energy(sim);
          sim.step();
          const double now = energy(sim);
          lowest = std::min(lowest, now);
          growth = std::max(growth, (now - last) / first);
          ASSERT_LE(now, first * (1 + 1e-6)) << dynamics->name() << "/" << tire->name() << " step " << i;
          ASSERT_LE(now, lowest + 0.01 * first) << dynamics->name() << "/" << tire->name() << " step " << i;
        }
        ++vehicles;
        ringing += growth > 1e-4;
      }
  EXPECT_LE(ringing, vehicles / 20) << "of " << vehicles;
}

// Halving the step halves the distance between trajectories: the integration is of first order.
TEST(Invariants, SmallerStepsConverge) {
  for (const Dynamics* dynamics : dynamics_classes()) {
    RandomStream random(24, 0, StreamPurpose::kSpawn);
    const std::string vehicle = random_vehicle(*dynamics, "raw", *tire_models()[0], random);
    Vec2 at[3];
    for (int i = 0; i < 3; ++i) {
      const double dt = 0.004 / (1 << i);
      Simulation sim(model_of("<simul_timestep>" + text(dt) + "</simul_timestep>" + vehicle), 0);
      std::vector<double> command;
      for (const CommandInfo& info : dynamics->controllers()[0]->command())
        command.push_back(info.name == "steer" ? 0.2 : info.name == "left_torque" ? -4 : -6);
      sim.set_command(0, command);
      sim.run(3);
      at[i] = {sim.vehicle_pose(0).x, sim.vehicle_pose(0).y};
    }
    const double coarse = norm(at[1] - at[0]), fine = norm(at[2] - at[1]);
    EXPECT_GT(norm(at[2]), 0.1) << dynamics->name();
    EXPECT_LT(fine, 0.7 * coarse + 1e-5) << dynamics->name();
    EXPECT_LT(coarse, 0.02 * norm(at[2])) << dynamics->name();
  }
}

}  // namespace
}  // namespace mvsim::test
