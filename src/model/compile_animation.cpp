// Compiles animations: keyframes, and people on paths.
#include <algorithm>
#include <cmath>

#include "base/geometry3.h"
#include "model/compile_parts.h"

namespace mvsim {
namespace {

double speed_of(const ActorSpec& spec, Gait gait) {
  return gait == Gait::kRun ? spec.running_speed : gait == Gait::kWalk ? spec.walking_speed : 0;
}

// The walk from `from` to a waypoint that begins at `start`; nothing if the actor never gets there.
std::optional<ActorLeg> leg_to(const ActorSpec& spec, const WaypointSpec& to, const Pose3& from,
                               double start) {
  constexpr double kArrived = 1e-3, kTurns = 0.1;  // m
  ActorLeg leg{.start = start, .from = from, .to = to.pose};
  if (!to.has_z) leg.to.z = from.z;
  leg.to.pitch = leg.to.roll = 0;
  const Vec3 way{leg.to.x - from.x, leg.to.y - from.y, leg.to.z - from.z};
  const double length = norm(way), speed = speed_of(spec, to.gait);
  leg.heading = length > kTurns ? math::atan2(way.y, way.x) : leg.to.yaw;
  if (length < kArrived) return leg;
  if (speed == 0) return std::nullopt;
  leg.duration = length / speed;
  return leg;
}

}  // namespace

void add_animation(const PlacementSpec& placement, BodyKind kind, Model& model) {
  if (placement.animation.empty()) return;
  const bool is_block = kind == BodyKind::kBlock;
  const Pose3& start = is_block ? model.blocks.back().initial_pose : model.vehicles.back().initial_pose;
  const size_t index = (is_block ? model.blocks.size() : model.vehicles.size()) - 1;
  model.animations.push_back({kind, index, placement.animation, start});
}

void compile_moving_plane(const HorizontalPlaneSpec& spec, GroundIndex& ground, Model& model) {
  const Rect& e = spec.extent;
  MovingPlane plane{
      .top = {.outline = {{e.x_min, e.y_min}, {e.x_max, e.y_min}, {e.x_max, e.y_max}, {e.x_min, e.y_max}},
              .height = spec.z},
      .frames = spec.animation,
      .start = spec.pose};
  for (const Vec2 corner : plane.top.outline) plane.top.radius = std::max(plane.top.radius, norm(corner));
  model.moving_planes.push_back(std::move(plane));
  const MovingPlane& added = model.moving_planes.back();
  const Pose3 pose = pose_at(added.frames, added.start, 0);
  ground.add(PlacedTop{&added.top, {pose.x, pose.y, pose.yaw}, pose.z});
}

void compile_actor(const ActorSpec& spec, GroundIndex& ground, Model& model) {
  constexpr double kEyes = 1.5;  // m above its feet: the storey that it stands on
  ActorModel out{.name = spec.name,
                 .initial_pose = settle(ground, spec.placement, kEyes),
                 .radius = spec.collision_radius,
                 .height = spec.collision_height};
  if (spec.body) {
    const BlockModel& body = model.blocks[*spec.body];
    out.block = static_cast<int>(*spec.body);
    out.initial_pose = body.initial_pose;
    if (body.is_driven) {  // a policy takes the place of its path
      model.actors.push_back(std::move(out));
      return;
    }
    model.walkers.push_back(model.actors.size());
  }
  Pose3 at = out.initial_pose;
  double time = 0;
  const auto walk = [&](const WaypointSpec& to) {
    const std::optional<ActorLeg> leg = leg_to(spec, to, at, time);
    if (!leg) return false;
    out.legs.push_back(*leg);
    at = leg->to;
    time += leg->duration + to.pause;
    return true;
  };
  const bool arrives = std::all_of(spec.path.begin(), spec.path.end(), walk);
  out.loop_start = time;
  if (arrives && spec.loops && spec.path.size() > 1) std::all_of(spec.path.begin(), spec.path.end(), walk);
  // an idle waypoint is never reached: it stands before it from then on
  out.end = arrives && spec.loops ? time : out.loop_start;
  model.actors.push_back(std::move(out));
}

}  // namespace mvsim
