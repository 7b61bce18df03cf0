#include "sim/rig_room.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/solver_bodies.h"
#include "sim/solver_surroundings.h"

namespace mvsim {
namespace {

// Box2D pairs shapes whose boxes are nearer than half a metre. The rest of the metre, and the steps, are for
// what forces and joints add to the way.
constexpr double kMargin = 1;  // m
constexpr double kSteps = 20;

// Whether nothing but wheels and revolute joints moves the vehicles of the Model, and nothing else moves.
bool has_rigs_alone(const Model& m) {
  if (m.joints.empty() || !m.grids.empty() || !m.animations.empty() || !m.walkers.empty()) return false;
  const auto is_vehicle = [&](size_t body) { return m.bodies[body].kind == BodyKind::kVehicle; };
  for (const JointModel& joint : m.joints)
    if (joint.type != JointType::kRevolute || !is_vehicle(joint.body_a) || !is_vehicle(joint.body_b))
      return false;
  for (const VehicleModel& v : m.vehicles)
    if (v.controller->imposes_twist()) return false;
  return std::ranges::all_of(m.bodies, [&](const BodyModel& body) {
    return body.kind == BodyKind::kVehicle || can_be_left_out(m, body.index);
  });
}

bool are_joined(const Model& m, size_t a, size_t b) {
  return std::ranges::any_of(m.joints, [&](const JointModel& joint) {
    return (joint.body_a == a && joint.body_b == b) || (joint.body_a == b && joint.body_b == a);
  });
}

}  // namespace

RigRoom::Box RigRoom::box_of(std::span<const Vec2> points) {
  constexpr double kMost = std::numeric_limits<double>::max();
  Vec2 low{kMost, kMost}, high{-kMost, -kMost};
  for (const Vec2 p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  return {0.5 * (low + high), 0.5 * (high - low)};
}

RigRoom::Box RigRoom::placed(const Box& box, const Pose2& pose) {
  const Rotation2 rotation(pose.yaw);
  const Vec2 x = rotation.rotate({box.half.x, 0}), y = rotation.rotate({0, box.half.y});
  return {Vec2{pose.x, pose.y} + rotation.rotate(box.center),
          {std::fabs(x.x) + std::fabs(y.x), std::fabs(x.y) + std::fabs(y.y)}};
}

// Never more than the distance of what the boxes hold; below 0 where they overlap.
double RigRoom::gap(const Box& a, const Box& b) {
  const Vec2 between = a.center - b.center, halves = a.half + b.half;
  return std::max(std::fabs(between.x) - halves.x, std::fabs(between.y) - halves.y);
}

RigRoom::RigRoom(const Model& model, const SimState& state)
    : model_(model), is_known_(has_rigs_alone(model)) {
  if (!is_known_) return;
  std::vector<Vec2> points;
  for (const VehicleModel& v : model.vehicles) {
    points.clear();
    for (const Polygon& piece : v.chassis.pieces) points.insert(points.end(), piece.begin(), piece.end());
    for (const WheelModel& wheel : v.wheels) {
      const double reach = wheel.radius + wheel.width / 2;  // however it steers
      points.push_back(wheel.position + Vec2{reach, reach});
      points.push_back(wheel.position - Vec2{reach, reach});
    }
    vehicles_.push_back(box_of(points));
  }
  for (const BlockModel& b : model.blocks) {
    if (b.body < 0) continue;
    const double scale = state.params[b.params + kBlockScale];
    const Pose2 pose = body_pose(state.bodies[static_cast<size_t>(b.body)]);
    points.clear();
    for (const Polygon& piece : b.shape.pieces)
      for (const Vec2 p : piece) points.push_back(transform(pose, scale * p));
    statics_.push_back(box_of(points));
  }
  for (size_t i = 0; i < model.vehicles.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!are_joined(model, model.vehicles[i].body, model.vehicles[j].body)) strangers_.emplace_back(i, j);
}

void RigRoom::measure(const SimState& state) {
  if (!is_known_) return;
  now_.clear();
  for (size_t i = 0; i < vehicles_.size(); ++i)
    now_.push_back(placed(vehicles_[i], body_pose(state.bodies[model_.vehicles[i].body])));
  room_ = std::numeric_limits<double>::max();
  for (const Box& vehicle : now_)
    for (const Box& other : statics_) room_ = std::min(room_, gap(vehicle, other));
  for (const auto& [a, b] : strangers_) room_ = std::min(room_, gap(now_[a], now_[b]) / 2);  // both may go
}

bool RigRoom::is_wide_for(double way) const {
  return kMargin + kSteps * way <= room_;  // false for NaN
}

double RigRoom::way_of(size_t vehicle, const BodyState& before, const BodyState& after) const {
  return norm(reference_point(after) - reference_point(before)) +
         model_.vehicles[vehicle].radius * std::fabs(after.angle - before.angle);
}

}  // namespace mvsim
