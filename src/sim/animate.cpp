#include "sim/animate.h"

#include <algorithm>
#include <cmath>

#include "sim/free_motion.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

// How far a point of a body may have come, at most.
double way_between(const BodyState& a, const BodyState& b, double radius) {
  return norm(Vec2{double{b.x} - a.x, double{b.y} - a.y}) + std::fabs(double{b.angle} - a.angle) * radius;
}

void impose(const Model& m, SimState& s, Workspace& w, size_t body, const Pose3& pose) {
  const BodyModel& kind = m.bodies[body];
  const bool is_vehicle = kind.kind == BodyKind::kVehicle;
  const BodyState before = s.bodies[body];
  s.bodies[body] = place_body({pose.x - m.origin.x, pose.y - m.origin.y, pose.yaw}, s.inertias[body]);
  const BodyState& after = s.bodies[body];
  if (before.x == after.x && before.y == after.y && before.angle == after.angle) return;
  const double radius =
      is_vehicle ? m.vehicles[kind.index].radius
                 : s.params[m.blocks[kind.index].params + kBlockScale] * m.blocks[kind.index].shape.radius;
  const double way = way_between(before, after, radius);
  for (double& free : s.free_distances) free -= way;
  if (is_vehicle) s.free_distances[kind.index] = -1;
  if (!is_vehicle) w.scene.refresh(m, s.params, s.bodies, kind.index);
  if (w.solver) w.solver->set_pose(m, s.params, body, after);
}

// Of the walk: turned along the way at its start, to where it is to look at its end.
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
  for (const AnimationModel& animation : m.animations) {
    const Pose3 pose = pose_at(animation.frames, animation.start, s.time);
    if (animation.kind == BodyKind::kVehicle) {
      impose(m, s, w, m.vehicles[animation.index].body, pose);
      continue;
    }
    const BlockModel& block = m.blocks[animation.index];
    s.block_z[animation.index] = pose.z;
    s.intangible_poses[animation.index] = {pose.x, pose.y, pose.yaw};
    if (block.body >= 0) impose(m, s, w, static_cast<size_t>(block.body), pose);
  }
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

}  // namespace mvsim
