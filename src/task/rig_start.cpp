#include "task/rig_start.h"

#include "task/trailer.h"

namespace mvsim {
namespace {

// The only joint between two bodies; fails if there is none, or if more or other joints hold the rig.
const JointModel& need_hitch(const TermReader& reader, const Model& model, size_t body, size_t trailer) {
  const JointModel* found = nullptr;
  size_t count = 0;
  for (const JointModel& joint : model.joints) {
    const bool forth = joint.body_a == body && joint.body_b == trailer;
    const bool back = joint.body_a == trailer && joint.body_b == body;
    if (!forth && !back) continue;
    found = &joint;
    ++count;
  }
  const auto group = static_cast<size_t>(model.bodies[body].joint_group);
  if (count != 1 || found->type != JointType::kRevolute || model.joint_groups[group].bodies.size() != 2)
    reader.fail("of",
                "expected one revolute joint between the robot and its trailer, and nothing else that "
                "is joined to them");
  return *found;
}

}  // namespace

RigStart::RigStart(TermReader& reader, const TaskContext& context)
    : vehicle_(context.vehicle), trailer_(need_trailer(reader, "of", context.model, context.vehicle)) {
  const Model& m = context.model;
  const size_t body = m.vehicles[vehicle_].body;
  const JointModel& joint = need_hitch(reader, m, body, m.vehicles[trailer_].body);
  const bool forth = joint.body_a == body;
  anchor_ = forth ? joint.anchor_a : joint.anchor_b;
  trailer_anchor_ = forth ? joint.anchor_b : joint.anchor_a;
  static constexpr Range kPoint[] = {kPlace, kPlace};
  if (const auto p = reader.numbers("point", kPoint, "two numbers, x y")) point_ = {(*p)[0], (*p)[1]};
  const Interval hitch = reader.interval("hitch", {-180, 180}).value_or(Interval{});
  hitch_ = {hitch.low * kDegree, hitch.high * kDegree};
}

void RigStart::place(Simulation& s, const Pose2& point, double hitch) const {
  const Vec2 back = transform(point, {-point_.x, -point_.y});
  const Pose2 trailer{back.x, back.y, point.yaw};
  const Vec2 joint = transform(trailer, trailer_anchor_);
  const double yaw = point.yaw - hitch;
  const Vec2 robot = transform({joint.x, joint.y, yaw}, {-anchor_.x, -anchor_.y});
  s.place_vehicle(trailer_, trailer);
  s.place_vehicle_alone(vehicle_, {robot.x, robot.y, yaw});
}

}  // namespace mvsim
