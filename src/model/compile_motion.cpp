// The drive of a vehicle as datasheets have it: its parameters and its memory.

#include <algorithm>
#include <numeric>

#include "base/geometry3.h"
#include "base/text.h"
#include "model/compile_parts.h"
#include "model/transfer_params.h"
#include "vehicle/command_filters.h"

namespace mvsim {
namespace {

// Absent limits by the rules of ros2_control.
LimitSpec filled(LimitSpec spec) {
  constexpr double kNone = kMaxNumber;
  spec.max_velocity = spec.max_velocity.value_or(kNone);
  spec.min_velocity = spec.min_velocity.value_or(-*spec.max_velocity);
  spec.max_acceleration = spec.max_acceleration.value_or(kNone);
  spec.max_acceleration_reverse = spec.max_acceleration_reverse.value_or(-*spec.max_acceleration);
  spec.max_deceleration = spec.max_deceleration.value_or(*spec.max_acceleration_reverse);
  spec.max_deceleration_reverse = spec.max_deceleration_reverse.value_or(*spec.max_acceleration);
  spec.max_jerk = spec.max_jerk.value_or(kNone);
  spec.min_jerk = spec.min_jerk.value_or(-*spec.max_jerk);
  return spec;
}

void add_limits(const LimitsSpec& spec, const std::string& prefix, DriveModel& drive, Model& model) {
  drive.limits = add_tag_params(model, prefix + "linear/", kLinearLimitTags, filled(spec.linear));
  add_tag_params(model, prefix + "angular/", kAngularLimitTags, filled(spec.angular));
}

void add_motor(MotorSpec spec, const std::string& prefix, VehicleModel& v, Model& model) {
  spec.battery_voltage = spec.battery_voltage.value_or(spec.rated_voltage);
  v.drive.motor = add_tag_params(model, prefix, kMotorTags, spec);
  v.drive.driver = spec.torque_control ? MotorDriver::kTorque : MotorDriver::kVoltage;
}

void add_servo(ServoSpec spec, const std::string& prefix, VehicleModel& v, Model& model) {
  if (!v.dynamics->steers())
    throw WorldFileError(spec.where, "<servo>: dynamics '" + std::string(v.dynamics->name()) +
                                         "' have no steering, expected a car");
  spec.rate = spec.rate.value_or(kServoTags[0].range.max);
  v.drive.servo = add_tag_params(model, prefix, kServoTags, spec);
}

void add_command_delay(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  const ParamInfo row{
      .name = "command_delay", .fallback = 0, .min = 0, .max = longest_delay(model.timestep), .unit = "s"};
  check_range(row, *spec.command_delay, spec.command_delay_where);
  v.drive.command_delay =
      add_params(model, "vehicle:" + spec.name + "/", {&row, 1}, {&*spec.command_delay, 1});
  v.drive.delay_places = delay_line_places(model.timestep);
  v.drive.delay_line = delay_line_size(v.drive.delay_places, v.controller->command().size());
}

// Finds the limits of each value of the command.
void find_command_limits(VehicleModel& v) {
  const std::span<const CommandInfo> command = v.controller->command();
  v.drive.command_size = command.size();
  if (!v.drive.limits) return;
  for (size_t i = 0; i < command.size(); ++i) {
    if (command[i].name == "vx") v.drive.command_limits[i] = *v.drive.limits;
    if (command[i].name == "omega") v.drive.command_limits[i] = *v.drive.limits + kLimitParamCount;
  }
}

// The damping of a motor is that of its curve: that of the tires' default stands for none that is known.
void clear_default_damping(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  if (v.drive.driver != MotorDriver::kVoltage || spec.friction.find("C_damping")) return;
  const std::span<const ParamInfo> table = v.tire->params();
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i].name == "C_damping") model.params[v.tire_params + i].nominal = 0;
}

constexpr double kGap = 0.01;  // m, that anchors may be off at the start without a word

// Documents name bodies by vehicle or block.
size_t body_of(const Model& model, const JointEndSpec& end) {
  return end.is_vehicle ? model.vehicles[end.index].body : static_cast<size_t>(model.blocks[end.index].body);
}

const BlockModel* block_of(const Model& model, size_t body) {
  const BodyModel& b = model.bodies[body];
  return b.kind == BodyKind::kBlock ? &model.blocks[b.index] : nullptr;
}

bool is_static(const Model& model, size_t body) {
  const BlockModel* block = block_of(model, body);
  return block && block->traits.is_static;
}

Pose2 initial_pose(const Model& model, size_t body) {
  const BodyModel& b = model.bodies[body];
  const Pose3& p = b.kind == BodyKind::kVehicle ? model.vehicles[b.index].initial_pose
                                                : model.blocks[b.index].initial_pose;
  return {p.x, p.y, p.yaw};
}

// A joint that does not fit the initial poses pulls its bodies into place in the first steps.
void warn_of_misfit(const JointModel& joint, const SourceLocation& where, Model& model) {
  const Vec2 a = transform(initial_pose(model, joint.body_a), joint.anchor_a);
  const Vec2 b = transform(initial_pose(model, joint.body_b), joint.anchor_b);
  const double gap = norm(b - a);
  const auto warn = [&](const std::string& text) {
    model.warnings.push_back(where.text() + ": <joint>: " + text);
  };
  if (joint.type == JointType::kRevolute && gap > kGap)
    warn("its anchors are " + metres(gap) + " apart at the start, expected the same point");
  if (joint.type == JointType::kDistance && (gap > joint.max_length + kGap || gap < joint.min_length - kGap))
    warn("its anchors are " + metres(gap) + " apart at the start, expected " + metres(joint.min_length) +
         " to " + metres(joint.max_length));
  if (joint.limited && !(joint.lower_angle <= 0 && joint.upper_angle >= 0))
    warn("the limits leave out the angle at the start, which is 0");
}

void check_ends(const JointSpec& spec, const JointModel& joint, const Model& model) {
  if (is_static(model, joint.body_a) && is_static(model, joint.body_b))
    throw WorldFileError(spec.where, "<joint>: both bodies are static, expected one that can move");
  for (const auto& [body, where] : {std::pair(joint.body_a, spec.a.where), {joint.body_b, spec.b.where}})
    if (const BlockModel* block = block_of(model, body); block && block->placed)
      throw WorldFileError(where, "<joint>: the environment places or resizes the block '" + block->name +
                                      "', expected one that stays as the world has it");
}

// Groups in the order of their first body.
void group_bodies(Model& model) {
  std::vector<size_t> root(model.bodies.size());
  std::iota(root.begin(), root.end(), size_t{0});
  const auto find = [&](size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  std::vector<uint8_t> joined(model.bodies.size()), tied(model.bodies.size());
  for (const JointModel& j : model.joints) {
    joined[j.body_a] = joined[j.body_b] = 1;
    if (is_static(model, j.body_a))
      tied[j.body_b] = 1;
    else if (is_static(model, j.body_b))
      tied[j.body_a] = 1;
    else
      root[std::max(find(j.body_a), find(j.body_b))] = std::min(find(j.body_a), find(j.body_b));
  }
  for (size_t i = 0; i < model.bodies.size(); ++i) {
    if (!joined[i] || is_static(model, i)) continue;
    const size_t first = find(i);
    if (first == i) {
      model.bodies[i].joint_group = static_cast<int>(model.joint_groups.size());
      model.joint_groups.emplace_back();
    }
    model.bodies[i].joint_group = model.bodies[first].joint_group;
    JointGroup& group = model.joint_groups[static_cast<size_t>(model.bodies[i].joint_group)];
    group.bodies.push_back(i);
    group.tied = group.tied || tied[i] != 0;
  }
}

// Compiles animations: keyframes, and people on paths.

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

void add_drive(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  const std::string prefix = "vehicle:" + spec.name + "/";
  if (spec.limits) add_limits(*spec.limits, prefix + "limits/", v.drive, model);
  if (spec.kinematics) {
    if (v.dynamics->steers())
      throw WorldFileError(spec.kinematics->where,
                           "<kinematics>: dynamics '" + std::string(v.dynamics->name()) +
                               "' steer, expected a differential drive: a car turns by its steering angle");
    v.drive.kinematics = add_tag_params(model, prefix + "kinematics/", kKinematicsTags, *spec.kinematics);
  }
  v.drive.coupled_sides = spec.coupled_sides.value_or(false);
  if (spec.motor) {
    add_motor(*spec.motor, prefix + "motor/", v, model);
    clear_default_damping(spec, v, model);
  }
  if (spec.servo) add_servo(*spec.servo, prefix + "servo/", v, model);
  if (spec.command_delay) add_command_delay(spec, v, model);
  find_command_limits(v);
  if (!v.drive.limits && !v.drive.servo && !v.drive.command_delay) return;
  v.drive.memory = model.memory_size;
  model.memory_size += kDelayLine + v.drive.delay_line;
}

void compile_joints(const WorldSpec& spec, Model& model) {
  for (const JointSpec& s : spec.joints) {
    JointModel joint{.type = s.type,
                     .body_a = body_of(model, s.a),
                     .body_b = body_of(model, s.b),
                     .anchor_a = s.a.anchor,
                     .anchor_b = s.b.anchor,
                     .min_length = s.min_length,
                     .max_length = s.max_length,
                     .stiffness = s.stiffness,
                     .damping = s.damping,
                     .limited = s.limited,
                     .lower_angle = s.lower_angle,
                     .upper_angle = s.upper_angle};
    joint.initial_angle = initial_pose(model, joint.body_b).yaw - initial_pose(model, joint.body_a).yaw;
    check_ends(s, joint, model);
    warn_of_misfit(joint, s.where, model);
    for (const JointEndSpec* end : {&s.a, &s.b})
      if (end->is_vehicle && !model.vehicles[end->index].first_joint_anchor)
        model.vehicles[end->index].first_joint_anchor = end->anchor;
    model.joints.push_back(joint);
  }
  group_bodies(model);
}

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

double find_lowest_moving_ground(const Model& model) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double lowest = kInfinity;
  const auto add = [&](const std::vector<Keyframe>& frames, const Pose3& start, const BlockTop& top) {
    double rise = 0;
    for (const Keyframe& frame : frames) rise = std::min(rise, frame.pose.z);
    // a tilted start turns ways along the ground into heights
    const bool is_level = start.pitch == 0 && start.roll == 0;
    lowest = std::min(lowest, is_level ? start.z + rise + std::min(top.lowest(), top.height) : -kInfinity);
  };
  for (const AnimationModel& a : model.animations)
    if (a.kind == BodyKind::kBlock) add(a.frames, a.start, model.blocks[a.index].top);
  for (const MovingPlane& plane : model.moving_planes) add(plane.frames, plane.start, plane.top);
  return lowest;
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
    if (!body.is_driven) model.walkers.push_back(model.actors.size());
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
  if (spec.body &&
      model.blocks[*spec.body].is_driven) {  // a policy moves it, and may take its goals from the path
    out.end = arrives && spec.loops ? time : 0;
    model.actors.push_back(std::move(out));
    return;
  }
  out.loop_start = time;
  if (arrives && spec.loops && spec.path.size() > 1) std::all_of(spec.path.begin(), spec.path.end(), walk);
  // an idle waypoint is never reached: it stands before it from then on
  out.end = arrives && spec.loops ? time : out.loop_start;
  model.actors.push_back(std::move(out));
}

}  // namespace mvsim
