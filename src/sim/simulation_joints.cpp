// The part of Simulation that knows what hangs together.
#include "sim/simulation.h"

namespace mvsim {

// Moves what is joined to a vehicle to where it belongs when the vehicle comes to `pose`.
void Simulation::place_joined(size_t index, const Pose2& pose) {
  const Model& m = *model_;
  const VehicleModel& v = m.vehicles.at(index);
  const int group = m.bodies[v.body].joint_group;
  if (group < 0) return;
  const Pose3& start = v.initial_pose;
  const bool stays = pose.x == start.x && pose.y == start.y && pose.yaw == start.yaw;
  if (m.joint_groups[static_cast<size_t>(group)].tied && !stays)
    throw Error("vehicle '" + v.name + "' is joined to a static block: it cannot be placed elsewhere");
  const Rotation2 R_world_base(v.initial_pose.yaw);
  for (const size_t i : m.joint_groups[static_cast<size_t>(group)].bodies) {
    if (i == v.body) continue;
    const BodyModel& body = m.bodies[i];
    const bool is_vehicle = body.kind == BodyKind::kVehicle;
    const Pose3& initial =
        is_vehicle ? m.vehicles[body.index].initial_pose : m.blocks[body.index].initial_pose;
    const Vec2 offset = R_world_base.unrotate({initial.x - v.initial_pose.x, initial.y - v.initial_pose.y});
    const Pose2 there = compose(pose, {offset.x, offset.y, initial.yaw - v.initial_pose.yaw});
    if (is_vehicle)
      put_vehicle(body.index, there);
    else
      place_block(body.index, there);
  }
}

bool Simulation::had_collision(size_t index) const {
  if (state_.vehicles.at(index).had_collision) return true;
  for (const size_t other : model_->joined_vehicles(index))
    if (state_.vehicles[other].had_collision) return true;
  return false;
}

double Simulation::joint_angle(size_t index) const {
  const JointModel& joint = model_->joints.at(index);
  return double{state_.bodies[joint.body_b].angle} - double{state_.bodies[joint.body_a].angle} -
         joint.initial_angle;
}

std::array<Vec2, 2> Simulation::joint_anchors(size_t index) const {
  const JointModel& joint = model_->joints.at(index);
  return {transform(pose_of(joint.body_a), joint.anchor_a), transform(pose_of(joint.body_b), joint.anchor_b)};
}

}  // namespace mvsim
