#include "model/compile_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace mvsim {
namespace {

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

std::string metres(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g m", v);
  return buffer;
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

}  // namespace

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

}  // namespace mvsim
