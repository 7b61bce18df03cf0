// Invariants of every vehicle, which need no oracle: a car is its own mirror image, a vehicle without drive
// gains no energy, and smaller steps lead to one trajectory. Over random vehicles of every dynamics class and
// tire model.
//
// Energy: a tire with a rolling constraint answers the speed of its hub as if the wheel carried its own share
// of the mass, and its spin follows the hub one step late. A body whose mass lies so far from its wheels that
// a hub yields by more than that overshoots, and may ring for ever as fast as friction can push in one step.
// `never_overshoots` tells such vehicles from the others, of which no energy ever grows. The forces of `vti`
// are implicit in the mass that they move: it has no such vehicles.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/random.h"
#include "sim/solver_bodies.h"
#include "sim/worlds.h"

namespace mvsim::test::invariants_test {
namespace {

std::string text(double value) {
  return std::to_string(value);
}

// Random numbers of one case; further registered classes do not change them.
RandomStream draws_of(uint64_t test, const std::string& name) {
  uint64_t key = test;
  for (const char c : name) key = key * 31 + static_cast<uint8_t>(c);
  return {key, 0, StreamPurpose::kSpawn};
}

std::string name_of(const Dynamics& dynamics, const TireModel& tire) {
  return std::string(dynamics.name()) + "/" + std::string(tire.name());
}

// On a ground of its own, where the model has such a parameter.
std::string random_friction(const TireModel& tire, RandomStream& random) {
  std::string values;
  for (const ParamInfo& info : tire.params()) {
    if (info.name == "mu") values += " mu='" + text(random.uniform(0.1, 1.2)) + "'";
    if (info.name == "surface")
      values += " surface='" +
                std::string(info.choices[random.below(static_cast<uint32_t>(info.choices.size()))]) + "'";
    if (info.name == "cone_index_Pa") values += " cone_index_Pa='" + text(random.uniform(5e4, 2e6)) + "'";
  }
  return "<friction class='" + std::string(tire.name()) + "'" + values + "/>";
}

// A vehicle that is its own mirror image, everything else drawn.
std::string random_vehicle(const Dynamics& dynamics, const std::string& controller,
                           const std::string& friction, RandomStream& random, const std::string& more = "") {
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
         half + "</pt></shape></chassis><controller class='" + controller + "'/></dynamics>" + friction +
         "</vehicle>";
}

// Returns the velocity of the centre of mass, body frame.
Vec2 center_velocity(const Twist2& twist, const BodyInertia& inertia) {
  return {twist.vx - twist.omega * inertia.center_y, twist.vy + twist.omega * inertia.center_x};
}

double energy_of(const BodyInertia& inertia, Vec2 velocity, double omega) {
  return (dot(velocity, velocity) / inertia.inverse_mass + omega * omega / inertia.inverse_inertia) / 2;
}

BodyInertia inertia_of(const Simulation& sim) {
  return vehicle_inertia(sim.model().vehicles[0], sim.state().params);
}

double energy(const Simulation& sim) {
  const BodyInertia inertia = inertia_of(sim);
  const Twist2 twist = vehicle_twist(sim, 0);
  double sum = energy_of(inertia, center_velocity(twist, inertia), twist.omega);
  const std::vector<WheelModel>& wheels = sim.model().vehicles[0].wheels;
  for (size_t i = 0; i < wheels.size(); ++i)
    sum += wheels[i].inertia * std::pow(wheel_states(sim, 0)[i].spin, 2) / 2;
  return sum;
}

// Returns the energy that a change of the body's velocity would give to a body at rest, J.
double kick(const BodyInertia& inertia, const Twist2& before, const Twist2& after, double turned) {
  const Vec2 change =
      Rotation2(turned).rotate(center_velocity(after, inertia)) - center_velocity(before, inertia);
  return energy_of(inertia, change, after.omega - before.omega);
}

// Is M - sum_i (m_i / 2 n_i n_i' + I_i / R_i^2 g_i g_i') positive definite? M: mass and inertia about the
// centre of mass; n_i and g_i take the body's velocity to the speed of hub i across and along the wheel. Then
// a step that stops the share m_i across, and has the spin follow along, takes energy away, limited or not.
bool never_overshoots(const Simulation& sim) {
  const VehicleModel& v = sim.model().vehicles[0];
  const BodyInertia inertia = inertia_of(sim);
  double wheels_mass = 0;
  for (const WheelModel& w : v.wheels) wheels_mass += w.mass;
  const double chassis_share =
      (1 / inertia.inverse_mass - wheels_mass) / static_cast<double>(v.wheels.size());
  double a[3][3] = {{1 / inertia.inverse_mass, 0, 0},
                    {0, 1 / inertia.inverse_mass, 0},
                    {0, 0, 1 / inertia.inverse_inertia}};
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const WheelModel& w = v.wheels[i];
    const Vec2 arm = w.position - Vec2{inertia.center_x, inertia.center_y};
    const Rotation2 wheel(wheel_states(sim, 0)[i].steer);
    const Vec2 along = wheel.rotate({1, 0}), across = wheel.rotate({0, 1});
    const double g[3] = {along.x, along.y, cross(arm, along)},
                 n[3] = {across.x, across.y, cross(arm, across)};
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)
        a[row][column] -= (chassis_share + w.mass) / 2 * n[row] * n[column] +
                          w.inertia / (w.radius * w.radius) * g[row] * g[column];
  }
  for (int pivot = 0; pivot < 3; ++pivot) {
    if (a[pivot][pivot] <= 0) return false;
    for (int row = pivot + 1; row < 3; ++row)
      for (int column = pivot + 1; column < 3; ++column)
        a[row][column] -= a[row][pivot] * a[pivot][column] / a[pivot][pivot];
  }
  return true;
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
  for (const Dynamics* dynamics : dynamics_classes())
    for (const Controller* controller : dynamics->controllers())
      for (const TireModel* tire : tire_models()) {
        const std::string name = name_of(*dynamics, *tire) + "/" + std::string(controller->name());
        RandomStream random = draws_of(22, name);
        const auto model = model_of("<simul_timestep>0.005</simul_timestep>" +
                                    random_vehicle(*dynamics, std::string(controller->name()),
                                                   random_friction(*tire, random), random));
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
        const Pose3 a = vehicle_pose(one, 0), b = vehicle_pose(other, 0);
        EXPECT_TRUE(is_finite(one)) << name;
        // a wheel of `ellipse` that rolls without slip loses its grip: it doubles a rounding at every other
        // step
        const double within = tire->name() == "ellipse" ? 1e-2 : 1e-3;
        EXPECT_NEAR(a.x, b.x, within) << name;
        EXPECT_NEAR(a.y, -b.y, within) << name;
        EXPECT_NEAR(a.yaw, -b.yaw, within) << name;
      }
}

constexpr double kStep = 0.005;

// A vehicle thrown over level ground; a car has its wheels turned, which takes it one step.
Simulation thrown(const Dynamics& dynamics, const TireModel& tire, RandomStream& random) {
  const std::string speed = "<init_vel>" + text(random.uniform(-3, 3)) + " " + text(random.uniform(-1, 1)) +
                            " " + text(random.uniform(-90, 90)) + "</init_vel>";
  Simulation sim(model_of("<simul_timestep>" + text(kStep) + "</simul_timestep>" +
                          random_vehicle(dynamics, "raw", random_friction(tire, random), random, speed)),
                 0);
  std::vector<double> command;
  for (const CommandInfo& info : sim.model().vehicles[0].controller->command())
    command.push_back(info.name == "steer" ? random.uniform(-0.5, 0.5) : 0);
  sim.set_command(0, command);
  sim.step();
  return sim;
}

// The most by which a step raised the energy: as a share of the first energy, and of what the change of
// velocity in that step would be worth to a body at rest.
struct Growth {
  double of_energy = 0, of_kick = 0;
  double first = 0, highest = 0, last = 0;  // J
};

Growth coast(Simulation& sim) {
  const BodyInertia inertia = inertia_of(sim);
  const double first = energy(sim);
  Growth out{.first = first, .highest = first};
  double before = first;
  for (int i = 0; i < 300; ++i) {
    const Twist2 twist = vehicle_twist(sim, 0);
    const double yaw = vehicle_pose(sim, 0).yaw;
    sim.step();
    const double now = energy(sim);
    if (now > before + 1e-12 * first) {
      out.of_energy = std::max(out.of_energy, (now - before) / first);
      out.of_kick = std::max(out.of_kick, (now - before) / kick(inertia, twist, vehicle_twist(sim, 0),
                                                                vehicle_pose(sim, 0).yaw - yaw));
    }
    before = now;
    out.highest = std::max(out.highest, now);
  }
  out.last = before;
  return out;
}

TEST(Invariants, EnergyNeverGrowsWithoutActuation) {
  size_t vehicles = 0, drawn = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const TireModel* tire : tire_models()) {
      RandomStream random = draws_of(23, name_of(*dynamics, *tire));
      for (int k = 0; k < 50; ++drawn) {
        Simulation sim = thrown(*dynamics, *tire, random);
        if (tire->name() != "vti" && !never_overshoots(sim)) continue;
        const Growth growth = coast(sim);
        ASSERT_EQ(growth.of_energy, 0) << dynamics->name() << "/" << tire->name() << " vehicle " << k;
        ASSERT_LT(growth.last, growth.first) << dynamics->name() << "/" << tire->name() << " vehicle " << k;
        ++k;
        ++vehicles;
      }
    }
  EXPECT_GE(vehicles, 1000u);
  EXPECT_LT(drawn - vehicles, drawn / 5) << "vehicles that may overshoot are few";
}

// Returns the energy that all wheels, each at its limits on both axes, would give to a body at rest in one
// step, J.
double friction_kick(const Simulation& sim) {
  constexpr double kMaxGrip = 1.2 * std::numbers::sqrt2;
  const BodyInertia inertia = inertia_of(sim);
  const double mass = 1 / inertia.inverse_mass;
  double farthest = 0;
  for (const WheelModel& w : sim.model().vehicles[0].wheels)
    farthest = std::max(farthest, norm(w.position - Vec2{inertia.center_x, inertia.center_y}));
  const double impulse = kMaxGrip * mass * sim.model().gravity * kStep;
  return energy_of(inertia, {impulse / mass, 0}, impulse * farthest * inertia.inverse_inertia);
}

TEST(Invariants, EnergyOfOvershootingWheelsGrowsByLessThanFrictionGivesInAStep) {
  size_t grown = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const TireModel* tire : tire_models()) {
      RandomStream random = draws_of(25, name_of(*dynamics, *tire));
      for (int k = 0; k < (tire->name() == "vti" ? 0 : 10);) {
        Simulation sim = thrown(*dynamics, *tire, random);
        if (never_overshoots(sim)) continue;
        const Growth growth = coast(sim);
        ASSERT_LT(growth.of_kick, 0.5) << dynamics->name() << "/" << tire->name();
        ASSERT_LT(growth.highest, growth.first + friction_kick(sim))
            << dynamics->name() << "/" << tire->name();
        grown += growth.of_energy > 0;
        ++k;
      }
    }
  EXPECT_GT(grown, 10u) << "the bound is tried";
}

// Halving the step halves the distance between trajectories: the integration is of first order.
TEST(Invariants, SmallerStepsConverge) {
  for (const Dynamics* dynamics : dynamics_classes())
    for (const TireModel* tire : tire_models()) {
      RandomStream random(24, 0, StreamPurpose::kSpawn);
      const std::string vehicle =
          random_vehicle(*dynamics, "raw", "<friction class='" + std::string(tire->name()) + "'/>", random);
      Vec2 at[3];
      for (int i = 0; i < 3; ++i) {
        const double dt = 0.004 / (1 << i);
        Simulation sim(model_of("<simul_timestep>" + text(dt) + "</simul_timestep>" + vehicle), 0);
        std::vector<double> command;
        for (const CommandInfo& info : dynamics->controllers()[0]->command())
          command.push_back(info.name == "steer" ? 0.2 : info.name == "left_torque" ? -4 : -6);
        sim.set_command(0, command);
        sim.run(3);
        at[i] = {vehicle_pose(sim, 0).x, vehicle_pose(sim, 0).y};
      }
      const std::string name = std::string(dynamics->name()) + "/" + std::string(tire->name());
      const double coarse = norm(at[1] - at[0]), fine = norm(at[2] - at[1]);
      EXPECT_GT(norm(at[2]), 0.1) << name;
      EXPECT_LT(fine, 0.7 * coarse + 1e-5) << name;
      EXPECT_LT(coarse, 0.02 * norm(at[2])) << name;
    }
}

}  // namespace
}  // namespace mvsim::test::invariants_test
