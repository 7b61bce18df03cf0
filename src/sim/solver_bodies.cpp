#include "sim/solver_bodies.h"

#include <algorithm>
#include <optional>
#include <string>

#include "sim/body_mass.h"
#include "sim/solver_passage.h"
#include "sim/solver_polygon.h"

namespace mvsim {
namespace {

constexpr float kBodySkin = 0.0025f;  // m, of chassis and blocks; wheels have Box2D's own, 10 mm
constexpr double kFarOutline = 500;   // m, of a point from its block's reference point

// A piece of an outline at `scale`, or throws when it is too small for the solver.
b2PolygonShape polygon(const Polygon& piece, double scale, const std::string& name) {
  std::optional<b2PolygonShape> shape = solver_polygon(piece, scale);
  if (!shape)
    throw Error("body '" + name + "' is thinner than " + std::to_string(kMinThickness) +
                " m: too small for the solver");
  shape->m_radius = kBodySkin;
  return *shape;
}

void set_mass(b2Body* body, const MassProperties& m) {
  b2MassData data;
  data.mass = static_cast<float>(m.mass);
  data.center = to_b2(m.center);
  data.I = static_cast<float>(m.inertia);
  body->SetMassData(&data);
}

// Two friction constraints against the floor, each with half of the block's friction, resist sliding and
// turning.
void add_ground_friction(const BlockModel& b, const double* p, double gravity, b2Body* body, b2Body* ground) {
  for (const double side : {1.0, -1.0}) {
    b2FrictionJointDef def;
    def.bodyA = ground;
    def.bodyB = body;
    def.localAnchorB = to_b2({side * b.shape.radius * p[kBlockScale], 0});
    def.localAnchorA = body->GetWorldPoint(def.localAnchorB);
    def.maxForce = static_cast<float>(p[kBlockGroundFriction] * p[kBlockMass] * gravity / 2);
    def.maxTorque = 0;
    body->GetWorld()->CreateJoint(&def);
  }
}

Pose2 initial_pose(const BlockModel& b, Vec2 origin) {
  return {b.initial_pose.x - origin.x, b.initial_pose.y - origin.y, b.initial_pose.yaw};
}

// Returns the pose of the Model's body in the frame of Box2D's body. They differ for far blocks only. A body
// that an environment places has no joints.
Pose2 pose_in_solver_body(const Model& model, Vec2 origin, size_t index) {
  const BodyModel& body = model.bodies[index];
  const bool far = body.kind == BodyKind::kBlock && is_far(model.blocks[body.index]);
  return far ? initial_pose(model.blocks[body.index], origin) : Pose2{};
}

}  // namespace

b2FixtureDef fixture_def(const b2Shape& shape, double friction, double restitution) {
  b2FixtureDef def;
  def.shape = &shape;
  def.friction = static_cast<float>(friction);
  def.restitution = static_cast<float>(restitution);
  return def;
}

void add_vehicle(const VehicleModel& v, std::span<const double> params, std::span<const WheelState> states,
                 b2Body* body, std::span<WheelFixture> fixtures) {
  for (const Polygon& piece : v.chassis.pieces) {
    const b2PolygonShape shape = polygon(piece, 1, v.name);
    const b2FixtureDef def = fixture_def(shape, 0, 0.01);
    body->CreateFixture(&def);
  }
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const double yaw = states[v.first_wheel + i].steer;
    b2PolygonShape box;
    set_wheel_box(v.wheels[i], yaw, box);
    const b2FixtureDef def = fixture_def(box, 0.5, 0.05);
    fixtures[v.first_wheel + i] = {body->CreateFixture(&def), yaw};
  }
  set_mass(body, vehicle_mass(v, params));
  const BodyInertia inertia = vehicle_inertia(v, params);
  body->SetLinearDamping(inertia.linear_damping);
  body->SetAngularDamping(inertia.angular_damping);
}

void add_block(const BlockModel& b, std::span<const double> params, double gravity, b2Body* body,
               b2Body* ground) {
  const double* p = params.data() + b.params;
  for (const Polygon& piece : b.shape.pieces) {
    const b2PolygonShape shape = polygon(piece, p[kBlockScale], b.name);
    const b2FixtureDef def = fixture_def(shape, p[kBlockFriction], p[kBlockRestitution]);
    body->CreateFixture(&def);
  }
  if (body->GetType() != b2_dynamicBody) return;
  body->SetLinearDamping(static_cast<float>(p[kBlockLinearDamping]));
  body->SetAngularDamping(static_cast<float>(p[kBlockAngularDamping]));
  if (p[kBlockMass] <= 0) return;  // no inverse mass: nothing moves it
  set_mass(body, block_mass(b, params));
  add_ground_friction(b, p, gravity, body, ground);
}

bool is_far(const BlockModel& b) {
  return b.traits.is_static && b.shape.radius > kFarOutline;
}

void add_far_block(const BlockModel& b, const BodyState& state, Vec2 origin, std::span<const double> params,
                   b2Body* body) {
  const double* p = params.data() + b.params;
  const Pose2 pose =
      b.placed ? Pose2{state.x - origin.x, state.y - origin.y, state.angle} : initial_pose(b, origin);
  for (const Polygon& piece : b.shape.pieces) {
    Polygon there;
    for (const Vec2 v : piece) there.push_back(transform(pose, p[kBlockScale] * v));
    const b2PolygonShape shape = polygon(there, 1, b.name);
    const b2FixtureDef def = fixture_def(shape, p[kBlockFriction], p[kBlockRestitution]);
    body->CreateFixture(&def);
  }
}

void add_joint(const Model& model, const JointModel& joint, Vec2 origin, b2Body* a, b2Body* b) {
  const Pose2 pose_a = pose_in_solver_body(model, origin, joint.body_a),
              pose_b = pose_in_solver_body(model, origin, joint.body_b);
  const b2Vec2 anchor_a = to_b2(transform(pose_a, joint.anchor_a)),
               anchor_b = to_b2(transform(pose_b, joint.anchor_b));
  if (joint.type == JointType::kDistance) {
    b2DistanceJointDef def;
    def.bodyA = a;
    def.bodyB = b;
    def.localAnchorA = anchor_a;
    def.localAnchorB = anchor_b;
    def.length = def.maxLength = static_cast<float>(joint.max_length);  // the spring's rest is its longest
    def.minLength = static_cast<float>(joint.min_length);
    def.stiffness = static_cast<float>(joint.stiffness);
    def.damping = static_cast<float>(joint.damping);
    a->GetWorld()->CreateJoint(&def);
  } else {
    b2RevoluteJointDef def;
    def.bodyA = a;
    def.bodyB = b;
    def.localAnchorA = anchor_a;
    def.localAnchorB = anchor_b;
    def.referenceAngle = static_cast<float>(joint.initial_angle + (pose_a.yaw - pose_b.yaw));
    def.enableLimit = joint.limited;
    def.lowerAngle = static_cast<float>(joint.lower_angle);
    def.upperAngle = static_cast<float>(joint.upper_angle);
    a->GetWorld()->CreateJoint(&def);
  }
}

float thickness_of(const Model& model, const BodyModel& body, std::span<const double> params) {
  const bool is_vehicle = body.kind == BodyKind::kVehicle;
  const BlockModel* block = is_vehicle ? nullptr : &model.blocks[body.index];
  const double scale = block ? params[block->params + kBlockScale] : 1;
  float thickest = 0;
  for (const Polygon& piece : block ? block->shape.pieces : model.vehicles[body.index].chassis.pieces)
    if (const std::optional<b2PolygonShape> shape = solver_polygon(piece, scale))
      thickest = std::max(thickest, min_width(*shape));
  return thickest;
}

}  // namespace mvsim
