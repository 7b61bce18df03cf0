// A robot's trailer, its start, and the terms of the angle of the hitch: an observation, a reward and a
// termination, all of class `hitch`.
#include "task/trailer.h"

#include <cmath>

#include "task/make_term.h"

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

std::optional<size_t> trailer_of(const Model& model, size_t vehicle) {
  const std::vector<size_t> joined = model.joined_vehicles(vehicle);
  return joined.size() == 1 ? std::optional(joined.front()) : std::nullopt;
}

size_t need_trailer(const TermReader& reader, std::string_view attribute, const Model& model,
                    size_t vehicle) {
  if (const std::optional<size_t> trailer = trailer_of(model, vehicle)) return *trailer;
  const size_t count = model.joined_vehicles(vehicle).size();
  reader.fail(attribute, "the vehicle '" + model.vehicles[vehicle].name + "' is joined to " +
                             std::to_string(count) + " vehicles, expected one, its trailer");
}

double hitch_angle(const Simulation& simulation, size_t vehicle, size_t trailer) {
  const Model& m = simulation.model();
  const auto yaw = [&](size_t v) { return body_pose(simulation, m.vehicles[v].body).yaw; };
  return wrap_to_pi(yaw(trailer) - yaw(vehicle));
}

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

// Cosine and sine of the angle.
template <>
std::unique_ptr<const Observation> term<class HitchObservation>(TermReader& reader, TaskContext& context) {
  const size_t trailer = need_trailer(reader, "class", context.model, context.vehicle);
  const std::vector<Interval> bounds{symmetric(1), symmetric(1)};
  return observation(bounds, [vehicle = context.vehicle, trailer](EnvState& env, AgentState&, float* out) {
    const Rotation2 r(hitch_angle(env.simulation, vehicle, trailer));
    out[0] = static_cast<float>(r.c);
    out[1] = static_cast<float>(r.s);
  });
}

// Square of the angle, rad2.
template <>
std::unique_ptr<const Reward> term<class HitchReward>(TermReader& reader, TaskContext& context) {
  const size_t trailer = need_trailer(reader, "class", context.model, context.vehicle);
  return reward([vehicle = context.vehicle, trailer](const EnvState& env, const AgentState&) {
    const double angle = hitch_angle(env.simulation, vehicle, trailer);
    return angle * angle;
  });
}

// Ends when the angle is beyond `max` (degrees in XML) to either side: the rig jackknifes.
template <>
std::unique_ptr<const Termination> term<class HitchTermination>(TermReader& reader, TaskContext& context) {
  const size_t trailer = need_trailer(reader, "class", context.model, context.vehicle);
  const double max = kDegree * reader.required_number("max", {kPositive.min, 180});
  return failure([vehicle = context.vehicle, trailer, max](const EnvState& env, const AgentState&) {
    return std::fabs(hitch_angle(env.simulation, vehicle, trailer)) > max;
  });
}

}  // namespace mvsim
