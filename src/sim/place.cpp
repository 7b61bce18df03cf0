#include "sim/place.h"

#include <algorithm>
#include <cmath>

#include "model/shape.h"
#include "model/transfer_params.h"
#include "sim/body_state.h"
#include "sim/drive.h"
#include "sim/free_room.h"
#include "sim/measure.h"
#include "sim/solver_bodies.h"
#include "sim/stand.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

bool has_movable_blocks(const Model& m) {
  return std::any_of(m.blocks.begin(), m.blocks.end(),
                     [](const BlockModel& b) { return b.body >= 0 && !b.traits.is_static; });
}

// Mass properties from the parameters; the reference point stays where it is.
void update_inertia(const Model& m, SimState& s, size_t body) {
  const BodyModel& kind = m.bodies[body];
  s.inertias[body] = kind.kind == BodyKind::kVehicle ? vehicle_inertia(m.vehicles[kind.index], s.params)
                                                     : block_inertia(m.blocks[kind.index], s.params);
}

bool needs_rounded_pose(const SimState& s, const VehicleModel& v) {
  const WheelModel& wheel = v.wheels[0];
  return v.tire->grip(s.params.data() + v.tire_params, wheel.radius, wheel.width, 1).needs_slip &&
         !v.controller->imposes_twist();
}

void reset_vehicle(const Model& m, SimState& s, size_t index) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  RandomStream random(s.key, s.episode, StreamPurpose::kOdometryMultiplier, static_cast<uint16_t>(index));
  for (size_t i = 0; i < 3; ++i) {
    const double drawn = 1 + 0.02 * random.normal();
    if (v.odometry_drawn[i]) s.params[v.body_params + kOdometryX + i] = drawn;
  }
  v.controller->initial_command(s.params.data() + v.controller_params, state.command);
  update_inertia(m, s, v.body);
  state.rounded.is_kept = needs_rounded_pose(s, v);
  BodyState& body = s.bodies[v.body];
  body = place_body({v.initial_pose.x, v.initial_pose.y, v.initial_pose.yaw});
  set_body_twist(body, v.initial_twist, s.inertias[v.body]);
  state.z = v.initial_pose.z;
  state.pitch = v.initial_pose.pitch;
  state.roll = v.initial_pose.roll;
  const Twist2 twist = vehicle_world_twist({m, s}, index);
  state.last_velocity = {twist.vx, twist.vy};
  for (size_t i = 0; i < v.wheels.size(); ++i) s.wheels[v.first_wheel + i].steer = v.wheels[i].yaw;
  set_loads(m, s, index);
}

void reset_block(const Model& m, SimState& s, size_t index) {
  const BlockModel& b = m.blocks[index];
  const Pose3& p = b.initial_pose;
  s.block_z[index] = p.z;
  s.intangible_poses[index] = {p.x, p.y, p.yaw};
  if (b.body < 0) return;
  const auto body = static_cast<size_t>(b.body);
  update_inertia(m, s, body);
  s.bodies[body] = place_body({p.x, p.y, p.yaw});
  if (!b.traits.is_static) set_body_twist(s.bodies[body], b.initial_twist, s.inertias[body]);
}

// Places one vehicle without the bodies that are joined to it.
void put_vehicle(const Model& m, SimState& s, Workspace& w, size_t index, const Pose2& pose) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  s.bodies[v.body] = place_body(pose);
  for (size_t i = 0; i < v.wheels.size(); ++i) s.wheels[v.first_wheel + i].spin = 0;
  state.rounded.is_known = false;
  state.last_velocity = {};
  state.has_last_pose = false;
  forget_contacts(s, w);
  snap_to_ground(m, s, w, index);
}

// Moves the bodies that are joined to a vehicle to their poses for the vehicle at `pose`.
void place_joined(const Model& m, SimState& s, Workspace& w, size_t index, const Pose2& pose) {
  const VehicleModel& v = m.vehicles.at(index);
  const int group = m.bodies[v.body].joint_group;
  if (group < 0) return;
  const Pose3& start = v.initial_pose;
  const bool stays = pose.x == start.x && pose.y == start.y && pose.yaw == start.yaw;
  if (m.joint_groups[static_cast<size_t>(group)].tied && !stays)
    throw Error("vehicle '" + v.name + "' is joined to a static block: it cannot be placed elsewhere");
  const Rotation2 R_world_base(start.yaw);
  for (const size_t i : m.joint_groups[static_cast<size_t>(group)].bodies) {
    if (i == v.body) continue;
    const BodyModel& body = m.bodies[i];
    const bool is_vehicle = body.kind == BodyKind::kVehicle;
    const Pose3& initial =
        is_vehicle ? m.vehicles[body.index].initial_pose : m.blocks[body.index].initial_pose;
    const Vec2 offset = R_world_base.unrotate({initial.x - start.x, initial.y - start.y});
    const Pose2 there = compose(pose, {offset.x, offset.y, initial.yaw - start.yaw});
    if (is_vehicle)
      put_vehicle(m, s, w, body.index, there);
    else
      place_block(m, s, w, body.index, there);
  }
}

constexpr double kLargestYaw = 1e7;    // rad; a sine is exact to 1e-9 there
constexpr double kLargestSpeed = 1e4;  // m/s, rad/s

bool is_within(double value, double limit) {
  return std::fabs(value) <= limit;  // false for NaN
}

// Wheels that roll with the ground under them.
void roll_wheels(const Model& m, SimState& s, size_t vehicle) {
  const VehicleModel& v = m.vehicles[vehicle];
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    WheelState& wheel = s.wheels[v.first_wheel + i];
    const double forward = Rotation2(wheel.steer).unrotate(wheel_velocity({m, s}, vehicle, i)).x;
    wheel.spin = forward / rolling_radius({m, s}, vehicle, i);
  }
}

void give_twist(const Model& m, SimState& s, size_t body, const Twist2& twist) {
  set_body_twist(s.bodies[body], twist, s.inertias[body]);
  if (m.bodies[body].kind != BodyKind::kVehicle) return;
  const size_t vehicle = m.bodies[body].index;
  const Twist2 world = vehicle_world_twist({m, s}, vehicle);
  s.vehicles[vehicle].last_velocity = {world.vx, world.vy};  // no acceleration comes of it
  roll_wheels(m, s, vehicle);
}

// Gives `body` and all bodies joined to it the motion of one rigid body.
void give_twist_to_joined(const Model& m, SimState& s, size_t body, const Twist2& twist) {
  const int group = m.bodies[body].joint_group;
  if (group < 0) return give_twist(m, s, body, twist);
  const Pose2 pose = body_pose({m, s}, body);
  const Vec2 velocity = Rotation2(pose.yaw).rotate({twist.vx, twist.vy});
  for (const size_t i : m.joint_groups[static_cast<size_t>(group)].bodies) {
    const Pose2 there = body_pose({m, s}, i);
    const Vec2 arm = Vec2{there.x, there.y} - Vec2{pose.x, pose.y};
    const Vec2 v =
        Rotation2(there.yaw).unrotate({velocity.x - twist.omega * arm.y, velocity.y + twist.omega * arm.x});
    give_twist(m, s, i, {v.x, v.y, twist.omega});
  }
}

void set_twist_of(const Model& m, SimState& s, Workspace& w, size_t body, const Twist2& twist,
                  const std::string& who) {
  const int group = m.bodies[body].joint_group;
  const bool rests = twist.vx == 0 && twist.vy == 0 && twist.omega == 0;
  if (group >= 0 && m.joint_groups[static_cast<size_t>(group)].tied && !rests)
    throw Error(who + " is joined to a static block: it cannot be set in motion");
  give_twist_to_joined(m, s, body, twist);
  forget_contacts(s, w);
}

}  // namespace

void forget_contacts(SimState& s, Workspace& w) {
  w.forget_contacts();
  std::fill(s.free_distances.begin(), s.free_distances.end(), kUnmeasured);
}

void reset_state(const Model& m, SimState& s, Workspace& w, uint64_t key, uint32_t episode) {
  w.forget();
  s.key = key;
  s.episode = episode;
  s.time = s.time_error = s.owed = 0;
  s.step_count = 0;
  s.params.resize(m.params.size());
  for (size_t i = 0; i < m.params.size(); ++i) s.params[i] = m.params[i].nominal;
  s.wheels.assign(m.wheel_count, {});
  s.memory.assign(m.memory_size, 0.0);
  s.readings.bytes.assign(m.reading_bytes, {});
  s.reading_valid.assign(m.reading_count, 0);
  s.bodies.assign(m.bodies.size(), {});
  s.inertias.assign(m.bodies.size(), {});
  s.free_distances.assign(m.vehicles.size(), kUnmeasured);
  // movable blocks may overlap at first: let Box2D settle that
  s.solver_origin = m.origin;
  s.in_contact = s.always_solver || has_movable_blocks(m) || !m.joints.empty();
  s.block_z.resize(m.blocks.size());
  s.intangible_poses.resize(m.blocks.size());
  s.vehicles.assign(m.vehicles.size(), {});
  // whether a sensor keeps its period belongs to the caller's set-up, not to the episode
  s.sensors.resize(m.sensors.size());
  for (size_t i = 0; i < m.sensors.size(); ++i) {
    const bool scheduled = s.sensors[i].scheduled;
    s.sensors[i] = {};
    s.sensors[i].scheduled = scheduled;
    s.sensors[i].noise = RandomStream(key, episode, StreamPurpose::kSensorNoise, static_cast<uint16_t>(i));
  }
  for (size_t i = 0; i < m.vehicles.size(); ++i) reset_vehicle(m, s, i);
  for (size_t i = 0; i < m.blocks.size(); ++i) reset_block(m, s, i);
  animate(m, s, w);
}

void place_vehicle(const Model& m, SimState& s, Workspace& w, size_t index, const Pose2& pose) {
  place_joined(m, s, w, index, pose);
  put_vehicle(m, s, w, index, pose);
}

void place_vehicle_alone(const Model& m, SimState& s, Workspace& w, size_t index, const Pose2& pose) {
  put_vehicle(m, s, w, index, pose);
}

void check_placeable(const Model& m, size_t index) {
  const BlockModel& b = m.blocks.at(index);
  if (b.traits.is_static && !b.placed && !b.traits.intangible)
    throw Error("block '" + b.name +
                "' is part of the model's static geometry: only blocks that an environment "
                "declares as placed can be moved");
}

void place_block(const Model& m, SimState& s, Workspace& w, size_t index, const Pose2& pose) {
  check_placeable(m, index);
  const BlockModel& b = m.blocks[index];
  s.intangible_poses[index] = pose;
  if (const std::optional<double> z = highest_map(m.terrain, {pose.x, pose.y})) s.block_z[index] = *z;
  w.forget_levels();  // a block without a body is ground, too
  if (b.body < 0) return;
  const auto body = static_cast<size_t>(b.body);
  s.bodies[body] = place_body(pose);
  if (!b.traits.is_static) s.in_contact = true;  // it may overlap another one
  w.scene.refresh(index);
  forget_contacts(s, w);
}

void set_param(const Model& m, SimState& s, Workspace& w, size_t index, double value) {
  const ParamInfo& info = m.params.at(index).info;
  if (!std::isfinite(value) || !in_range(info, value))
    throw Error("parameter " + m.params[index].path + ": " + std::to_string(value) + " is out of range");
  s.params[index] = value;
  forget_contacts(s, w);
  for (size_t body = 0; body < m.bodies.size(); ++body) {
    const BodyModel& kind = m.bodies[body];
    const bool is_vehicle = kind.kind == BodyKind::kVehicle;
    const size_t first = is_vehicle ? m.vehicles[kind.index].body_params : m.blocks[kind.index].params;
    const size_t count = is_vehicle ? size_t{kVehicleParamCount} : size_t{kBlockParamCount};
    const bool shifts_load = is_vehicle && (index == m.vehicles[kind.index].transfer_params + kLoadX ||
                                            index == m.vehicles[kind.index].transfer_params + kLoadY);
    if (!shifts_load && (index < first || index >= first + count)) continue;
    update_inertia(m, s, body);
    if (is_vehicle) {
      s.vehicles[kind.index].rounded.is_known = false;
      set_loads(m, s, kind.index);
    } else {
      w.scene.refresh(kind.index);
    }
  }
}

void check_pose(const Model& m, const Pose2& pose, const std::string& what) {
  if (is_within(pose.x - m.origin.x, kFarthestPoint) && is_within(pose.y - m.origin.y, kFarthestPoint) &&
      is_within(pose.yaw, kLargestYaw))
    return;
  throw Error(what + ": found " + std::to_string(pose.x) + " " + std::to_string(pose.y) + " " +
              std::to_string(pose.yaw) + ", expected a finite pose, x y yaw, within 1000 km of the world");
}

void check_twist(const Twist2& twist, const std::string& what) {
  if (is_within(twist.vx, kLargestSpeed) && is_within(twist.vy, kLargestSpeed) &&
      is_within(twist.omega, kLargestSpeed))
    return;
  throw Error(what + ": found " + std::to_string(twist.vx) + " " + std::to_string(twist.vy) + " " +
              std::to_string(twist.omega) +
              ", expected a finite twist, vx vy omega, of at most 10000 m/s and rad/s");
}

void check_not_animated(const Model& m, BodyKind kind, size_t index) {
  for (const AnimationModel& animation : m.animations)
    if (animation.kind == kind && animation.index == index)
      throw Error((kind == BodyKind::kVehicle ? "vehicle '" + m.vehicles[index].name
                                              : "block '" + m.blocks[index].name) +
                  "' follows its keyframes: it cannot be placed or set in motion");
  for (const size_t walker : m.walkers)
    if (kind == BodyKind::kBlock && m.actors[walker].block == static_cast<int>(index))
      throw Error("block '" + m.blocks[index].name +
                  "' is a person who follows a path: it cannot be placed or set in motion");
}

void set_vehicle_twist(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& twist) {
  const VehicleModel& v = m.vehicles.at(vehicle);
  set_twist_of(m, s, w, v.body, twist, "vehicle '" + v.name + "'");
}

void push_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& change) {
  const size_t body = m.vehicles.at(vehicle).body;
  const Twist2 twist = vehicle_twist({m, s}, vehicle);
  set_body_twist(s.bodies[body], {twist.vx + change.vx, twist.vy + change.vy, twist.omega + change.omega},
                 s.inertias[body]);
  forget_contacts(s, w);
}

void check_can_move(const Model& m, size_t block) {
  const BlockModel& b = m.blocks.at(block);
  if (b.body < 0 || (b.traits.is_static && !b.is_driven))
    throw Error("block '" + b.name + "' " + (b.body < 0 ? "is intangible" : "is static") +
                ": it cannot be set in motion");
}

void set_block_twist(const Model& m, SimState& s, Workspace& w, size_t block, const Twist2& twist) {
  const BlockModel& b = m.blocks.at(block);
  check_can_move(m, block);
  set_twist_of(m, s, w, static_cast<size_t>(b.body), twist, "block '" + b.name + "'");
  if (!m.blocks[block].is_driven) s.in_contact = true;
}

}  // namespace mvsim
