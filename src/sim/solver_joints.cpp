#include "sim/solver_joints.h"

namespace mvsim {
namespace {

b2Vec2 to_b2(Vec2 v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y)};
}

void add_distance(b2World& world, const JointModel& joint, b2Body* a, b2Body* b) {
  b2DistanceJointDef def;
  def.bodyA = a;
  def.bodyB = b;
  def.localAnchorA = to_b2(joint.anchor_a);
  def.localAnchorB = to_b2(joint.anchor_b);
  def.length = def.maxLength = static_cast<float>(joint.max_length);  // the spring's rest is its longest
  def.minLength = static_cast<float>(joint.min_length);
  def.stiffness = static_cast<float>(joint.stiffness);
  def.damping = static_cast<float>(joint.damping);
  world.CreateJoint(&def);
}

void add_revolute(b2World& world, const JointModel& joint, b2Body* a, b2Body* b) {
  b2RevoluteJointDef def;
  def.bodyA = a;
  def.bodyB = b;
  def.localAnchorA = to_b2(joint.anchor_a);
  def.localAnchorB = to_b2(joint.anchor_b);
  def.referenceAngle = static_cast<float>(joint.initial_angle);
  def.enableLimit = joint.limited;
  def.lowerAngle = static_cast<float>(joint.lower_angle);
  def.upperAngle = static_cast<float>(joint.upper_angle);
  world.CreateJoint(&def);
}

}  // namespace

void add_joint(b2World& world, const JointModel& joint, b2Body* a, b2Body* b) {
  if (joint.type == JointType::kDistance)
    add_distance(world, joint, a, b);
  else
    add_revolute(world, joint, a, b);
}

}  // namespace mvsim
