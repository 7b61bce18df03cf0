#include "sim/place.h"

#include <algorithm>
#include <cmath>

#include "sim/free_room.h"
#include "sim/measure.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

// How far a point of a body may have come, at most.
double way_between(const BodyState& a, const BodyState& b, double radius) {
  return norm(reference_point(b) - reference_point(a)) + std::fabs(b.angle - a.angle) * radius;
}

// Moves a body that nothing pushes. Returns how far any point of it has come at most, m.
double put(const Model& m, SimState& s, Workspace& w, size_t body, const BodyState& after) {
  const BodyModel& kind = m.bodies[body];
  const bool is_vehicle = kind.kind == BodyKind::kVehicle;
  const BodyState before = s.bodies[body];
  s.bodies[body] = after;
  if (before.x == after.x && before.y == after.y && before.angle == after.angle) return 0;
  const double radius =
      is_vehicle ? m.vehicles[kind.index].radius
                 : s.params[m.blocks[kind.index].params + kBlockScale] * m.blocks[kind.index].shape.radius;
  if (is_vehicle) s.free_distances[kind.index] = kUnmeasured;
  if (!is_vehicle) w.scene.refresh(kind.index);
  if (w.solver) w.solver->set_pose(m, s, body);
  return way_between(before, after, radius);
}

double impose(const Model& m, SimState& s, Workspace& w, size_t body, const Pose3& pose) {
  return put(m, s, w, body, place_body({pose.x, pose.y, pose.yaw}));
}

// Reduces the free distance of every vehicle by `way`, the longest way of an animated body.
void leave_less_room(SimState& s, double way) {
  for (double& free : s.free_distances) free -= way;
}

// Returns the heading of a walking person: it turns into the way at the start and to the final yaw at the
// end.
double walking_yaw(const ActorLeg& leg, double progress) {
  constexpr double kTurned = 0.1, kTurnsAgain = 0.8;  // shares of the way
  const auto blend = [](double from, double to, double share) {
    return from + share * wrap_to_pi(to - from);
  };
  if (progress < kTurned) return blend(leg.from.yaw, leg.heading, progress / kTurned);
  if (progress > kTurnsAgain)
    return blend(leg.heading, leg.to.yaw, (progress - kTurnsAgain) / (1 - kTurnsAgain));
  return leg.heading;
}

}  // namespace

void animate(const Model& m, SimState& s, Workspace& w) {
  double way = 0;
  for (const AnimationModel& animation : m.animations) {
    const Pose3 pose = pose_at(animation.frames, animation.start, s.time);
    if (animation.kind == BodyKind::kVehicle) {
      way = std::max(way, impose(m, s, w, m.vehicles[animation.index].body, pose));
      continue;
    }
    const BlockModel& block = m.blocks[animation.index];
    s.block_z[animation.index] = pose.z;
    s.intangible_poses[animation.index] = {pose.x, pose.y, pose.yaw};
    if (block.body >= 0) way = std::max(way, impose(m, s, w, static_cast<size_t>(block.body), pose));
  }
  for (const size_t walker : m.walkers) {
    const ActorModel& actor = m.actors[walker];
    const auto block = static_cast<size_t>(actor.block);
    const Pose3 pose = actor_pose(actor, s.time);
    s.block_z[block] = pose.z;
    s.intangible_poses[block] = {pose.x, pose.y, pose.yaw};
    way = std::max(way, impose(m, s, w, static_cast<size_t>(m.blocks[block].body), pose));
  }
  leave_less_room(s, way);
}

void move_driven_blocks(const Model& m, SimState& s, Workspace& w, double dt) {
  double moved = 0, turned = 0;  // of any of them at most: m2, and m of a point of its outline
  for (const size_t index : m.driven_blocks) {
    const BlockModel& block = m.blocks[index];
    const auto body = static_cast<size_t>(block.body);
    BodyState& now = s.bodies[body];
    if (now.vx == 0 && now.vy == 0 && now.omega == 0) continue;
    const BodyState before = now;
    add_to(now.x, now.x_rest, dt * before.vx);
    add_to(now.y, now.y_rest, dt * before.vy);
    add_to(now.angle, now.angle_rest, dt * before.omega);
    const Vec2 to = reference_point(now) - reference_point(before);
    moved = std::max(moved, dot(to, to));
    const double radius = s.params[block.params + kBlockScale] * block.shape.radius;
    turned = std::max(turned, std::fabs(now.angle - before.angle) * radius);
    w.scene.refresh(index);
    if (w.solver) w.solver->set_pose(m, s, body);
    if (m.terrain.maps.empty()) continue;
    if (const std::optional<double> z = highest_map(m.terrain, reference_point(now))) s.block_z[index] = *z;
  }
  leave_less_room(s, std::sqrt(moved) + turned);
}

void drive_block(const Model& m, SimState& s, size_t block, const Twist2& world_twist) {
  BodyState& body = s.bodies[static_cast<size_t>(m.blocks[block].body)];
  body.vx = static_cast<float>(world_twist.vx);
  body.vy = static_cast<float>(world_twist.vy);
  body.omega = static_cast<float>(world_twist.omega);
}

void add_moving_planes(const Model& m, const SimState& s, double height, std::vector<PlacedTop>& tops) {
  for (const MovingPlane& plane : m.moving_planes) {
    const Pose3 pose = moving_plane_pose(plane, s.time);
    if (pose.z + plane.top.lowest() <= height)
      tops.push_back({&plane.top, {pose.x, pose.y, pose.yaw}, pose.z});
  }
}

Pose3 moving_plane_pose(const MovingPlane& plane, double time) {
  return pose_at(plane.frames, plane.start, time);
}

Pose3 actor_pose(const ActorModel& actor, double time) {
  if (actor.legs.empty()) return actor.initial_pose;
  const double period = actor.end - actor.loop_start;
  if (time > actor.end && period > 0) time = actor.loop_start + std::fmod(time - actor.loop_start, period);
  const auto next = std::upper_bound(actor.legs.begin(), actor.legs.end(), time,
                                     [](double t, const ActorLeg& leg) { return t < leg.start; });
  const ActorLeg& leg = *(next - 1);
  if (time >= leg.start + leg.duration) return leg.to;
  const double progress = (time - leg.start) / leg.duration;
  return {leg.from.x + progress * (leg.to.x - leg.from.x),
          leg.from.y + progress * (leg.to.y - leg.from.y),
          leg.from.z + progress * (leg.to.z - leg.from.z),
          walking_yaw(leg, progress),
          0,
          0};
}

Pose3 actor_pose(const SimView& sim, size_t index) {
  const ActorModel& actor = sim.model.actors.at(index);
  return actor.block < 0 ? actor_pose(actor, sim.state.time)
                         : block_pose(sim, static_cast<size_t>(actor.block));
}

}  // namespace mvsim
