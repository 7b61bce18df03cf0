#include "sim/measure.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "base/archive.h"
#include "base/math.h"
#include "model/compile_parts.h"
#include "model/transfer_params.h"
#include "sim/body_state.h"
#include "sim/stand.h"
#include "tire/rolling.h"

namespace mvsim {
namespace {

// The name of such a body; "": none.
std::string fastest_beyond_step(const SimView& sim, double dt) {
  constexpr double kRounding = 1e-5;
  const Model& model = sim.model;
  const double most = kMostTravel / dt, most_turn = kMostTurn / dt;
  for (const size_t i : model.moving_bodies) {
    const BodyModel& kind = model.bodies[i];
    const BodyState& body = sim.state.bodies[i];
    const bool is_vehicle = kind.kind == BodyKind::kVehicle;
    if (!is_vehicle && model.blocks[kind.index].is_led) continue;  // put where it belongs
    bool is_beyond = math::hypot(double{body.vx}, double{body.vy}) > (1 - kRounding) * most ||
                     std::fabs(body.omega) > (1 - kRounding) * most_turn;
    if (is_vehicle && model.vehicles[kind.index].controller->imposes_twist()) {
      const double* const command = sim.state.vehicles[kind.index].command;
      is_beyond = std::fabs(command[0]) > most || std::fabs(command[1]) > most_turn;
    }
    if (is_beyond)
      return is_vehicle ? "vehicle '" + model.vehicles[kind.index].name + "'"
                        : "block '" + model.blocks[kind.index].name + "'";
  }
  return "";
}

}  // namespace

bool is_finite(const SimView& sim) {
  // a sum is a number only if all that it is made of are: one look for all bodies
  double bodies = 0;
  for (const size_t body : sim.model.moving_bodies) {
    const BodyState& b = sim.state.bodies[body];
    bodies += b.x + b.y + b.angle + b.vx + b.vy + b.omega;
  }
  if (!(std::fabs(bodies) <= kLargestStored)) return false;
  for (const WheelState& w : sim.state.wheels)
    if (!(std::fabs(w.spin) <= kLargestStored)) return false;
  return true;
}

void refuse_cut_motion(const SimView& sim, double dt) {
  const std::string fast = fastest_beyond_step(sim, dt);
  if (fast.empty()) return;
  char text[200];
  std::snprintf(text, sizeof text,
                " is faster than a step of %g s can move it, at most 2 m and a quarter turn; expected a "
                "smaller step (<simul_timestep>) or a slower command",
                dt);
  throw Error("strict: " + fast + text);
}

Pose3 vehicle_pose(const SimView& sim, size_t index) {
  const Pose2 p = body_pose(sim, sim.model.vehicles.at(index).body);
  const VehicleState& v = sim.state.vehicles[index];
  return {p.x, p.y, v.z, p.yaw, v.pitch, v.roll};
}

Twist2 vehicle_twist(const SimView& sim, size_t index) {
  const size_t body = sim.model.vehicles.at(index).body;
  const BodyState& b = sim.state.bodies[body];
  return body_twist(b, sim.state.inertias[body], Rotation2(b.angle));
}

Twist2 vehicle_world_twist(const SimView& sim, size_t index) {
  const size_t body = sim.model.vehicles.at(index).body;
  const BodyState& b = sim.state.bodies[body];
  return world_twist(b, sim.state.inertias[body], Rotation2(b.angle));
}

Vec2 vehicle_acceleration(const SimView& sim, size_t index) {
  const VehicleState& v = sim.state.vehicles.at(index);
  return Rotation2(body_pose(sim, sim.model.vehicles[index].body).yaw).unrotate(v.acceleration);
}

Twist2 vehicle_odometry_twist(const SimView& sim, size_t index) {
  return odometry_twist(sim.model.vehicles.at(index).wheels, wheel_states(sim, index));
}

uint8_t contacts(const SimView& sim, size_t index) {
  const std::vector<VehicleState>& vehicles = sim.state.vehicles;
  uint8_t found = vehicles.at(index).contacts;
  for (const size_t other : sim.model.joined_vehicles(index)) found |= vehicles[other].contacts;
  return found;
}

bool had_collision(const SimView& sim, size_t index) {
  return contacts(sim, index) != 0;
}

std::span<const WheelState> wheel_states(const SimView& sim, size_t index) {
  const VehicleModel& v = sim.model.vehicles.at(index);
  return {sim.state.wheels.data() + v.first_wheel, v.wheels.size()};
}

Vec2 wheel_velocity(const SimView& sim, size_t index, size_t wheel) {
  const Twist2 twist = vehicle_twist(sim, index);
  const VehicleModel& v = sim.model.vehicles[index];
  const Vec2 nominal = v.wheels.at(wheel).position;
  const Vec2 at{nominal.x, sim.state.params[v.transfer_params + kTrack] * nominal.y};
  return {twist.vx - twist.omega * at.y, twist.vy + twist.omega * at.x};
}

double rolling_radius(const SimView& sim, size_t index, size_t wheel) {
  const VehicleModel& v = sim.model.vehicles.at(index);
  const WheelModel& w = v.wheels[wheel];
  const double gravity = v.load_transfer ? gravity_across(sim.model, TiltMemo().of(sim.state.vehicles[index]))
                                         : sim.model.gravity;
  const double load = sim.state.wheels[v.first_wheel + wheel].load + w.mass * gravity;
  const double* const params = sim.state.params.data();
  const double radius = params[v.transfer_params + kTransferParamCount + wheel];
  return v.tire->rolling_radius(params + v.tire_params, radius, load);
}

WheelSlip wheel_slip(const SimView& sim, size_t index, size_t wheel) {
  const WheelState& state = sim.state.wheels[sim.model.vehicles.at(index).first_wheel + wheel];
  const Vec2 velocity = Rotation2(state.steer).unrotate(wheel_velocity(sim, index, wheel));
  const double radius = rolling_radius(sim, index, wheel);
  return {slip_ratio(state.spin * radius, velocity.x), slip_angle(velocity.x, velocity.y)};
}

Pose3 block_pose(const SimView& sim, size_t index) {
  const BlockModel& b = sim.model.blocks.at(index);
  const Pose2 p = block_plane_pose(sim, index);
  return {p.x, p.y, sim.state.block_z[index], p.yaw, b.initial_pose.pitch, b.initial_pose.roll};
}

Twist2 block_world_twist(const SimView& sim, size_t index) {
  const BlockModel& b = sim.model.blocks.at(index);
  if (b.body < 0) return {};
  const BodyState& s = sim.state.bodies[static_cast<size_t>(b.body)];
  const BodyInertia& inertia = sim.state.inertias[static_cast<size_t>(b.body)];
  const Vec2 center = Rotation2(s.angle).rotate({inertia.center_x, inertia.center_y});
  return {s.vx + s.omega * center.y, s.vy - s.omega * center.x, s.omega};
}

std::array<Vec2, 2> joint_anchors(const SimView& sim, size_t index) {
  const JointModel& joint = sim.model.joints.at(index);
  return {transform(body_pose(sim, joint.body_a), joint.anchor_a),
          transform(body_pose(sim, joint.body_b), joint.anchor_b)};
}

}  // namespace mvsim
