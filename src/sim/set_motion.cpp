#include "sim/set_motion.h"

#include <algorithm>
#include <cmath>

#include "model/shape.h"
#include "sim/body_twist.h"
#include "sim/measure.h"
#include "sim/place.h"

namespace mvsim {
namespace {

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
