#include "sim/solver_bodies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "sim/free_room.h"
#include "sim/move.h"
#include "sim/rigid_body_solver.h"
#include "sim/solver_passage.h"

namespace mvsim {
namespace {

constexpr double kNear = 500;  // m; there single precision tells 0.03 mm apart

// The first that counts: a vehicle, a block on its way, or any block that can be moved.
std::optional<size_t> leading_body(const Model& m, const SimState& s) {
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (s.vehicles[i].by_solver) return m.vehicles[i].body;
  std::optional<size_t> first;
  for (const size_t i : m.moving_bodies) {
    if (!is_movable_block(m, m.bodies[i])) continue;
    if (is_moving(s.bodies[i])) return i;
    if (!first) first = i;
  }
  return first;
}

float fan_area(std::span<const b2Vec2> points) {
  float area = 0;
  for (size_t i = 1; i + 1 < points.size(); ++i)
    area += b2Cross(points[i] - points[0], points[i + 1] - points[0]) / 2;
  return area;
}

constexpr float kBodySkin = 0.0025f;  // m, of chassis and blocks; wheels have Box2D's own, 10 mm
constexpr double kFarOutline = 500;   // m, of a point from its block's reference point

// A piece of an outline at `scale`, or throws when it is too small for the solver.
SolverShape polygon(const Polygon& piece, double scale, const std::string& name) {
  std::optional<SolverShape> shape = solver_polygon(piece, scale);
  if (!shape)
    throw Error("body '" + name + "' is thinner than " + std::to_string(kMinThickness) +
                " m: too small for the solver");
  shape->m_radius = kBodySkin;
  return *shape;
}

b2MassData mass_data(const MassProperties& m) {
  b2MassData data;
  data.mass = static_cast<float>(m.mass);
  data.center = to_b2(m.center);
  data.I = static_cast<float>(m.inertia);
  return data;
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

SolverWorld::SolverWorld() = default;
SolverWorld::SolverWorld(SolverWorld&&) noexcept = default;
SolverWorld& SolverWorld::operator=(SolverWorld&&) noexcept = default;
SolverWorld::~SolverWorld() = default;

b2World& SolverWorld::get() {
  if (!world_) world_ = std::make_unique<b2World>(b2Vec2(0, 0));
  return *world_;
}

void SolverWorld::clear() {
  while (b2Body* const body = world_->GetBodyList()) world_->DestroyBody(body);
  world_->SetContactFilter(nullptr);
  world_->SetContactListener(nullptr);
}

const RoundedPose* SolverFrame::rounded(const SimState& s, size_t body) const {
  const BodyModel& kind = model_->bodies[body];
  if (kind.kind != BodyKind::kVehicle || kind.joint_group >= 0) return nullptr;
  const RoundedPose& rounded = s.vehicles[kind.index].rounded;
  const BodyState& state = s.bodies[body];
  const bool counts_from_here = std::fabs(state.x - origin_.x) <= kRoundedNear &&
                                std::fabs(state.y - origin_.y) <= kRoundedNear && origin_ == s.solver_origin;
  return rounded.is_kept && rounded.is_known && counts_from_here ? &rounded : nullptr;
}

SolverPose SolverFrame::of(const SimState& s, size_t body) const {
  if (const RoundedPose* const own = rounded(s, body)) return {{own->x, own->y}, own->angle};
  const std::vector<BodyState>& bodies = s.bodies;
  const BodyState& state = bodies[body];
  const int group = model_->bodies[body].joint_group;
  const double first =
      group < 0 ? state.angle : bodies[model_->joint_groups[static_cast<size_t>(group)].bodies.front()].angle;
  double angle = state.angle;
  if (std::fabs(first) > kPi) angle -= 2 * kPi * std::nearbyint(first / (2 * kPi));
  return {{static_cast<float>(state.x - origin_.x), static_cast<float>(state.y - origin_.y)},
          static_cast<float>(angle)};
}

void keep_origin_near(const Model& m, SimState& s) {
  const std::optional<size_t> body = leading_body(m, s);
  if (!body) return;
  const Vec2 at = reference_point(s.bodies[*body]);
  if (std::fabs(at.x - s.solver_origin.x) <= kNear && std::fabs(at.y - s.solver_origin.y) <= kNear) return;
  s.solver_origin = {std::nearbyint(at.x), std::nearbyint(at.y)};
  for (VehicleState& v : s.vehicles) v.rounded.is_known = false;  // they count from there
}

std::optional<SolverShape> solver_polygon(const Polygon& outline, double scale) {
  static_assert(SolverOutline::kMost == b2_maxPolygonVertices);
  const SolverOutline welded = solver_outline(outline, scale);
  if (!welded.is_large_enough()) return std::nullopt;
  std::array<b2Vec2, b2_maxPolygonVertices> points;
  for (size_t i = 0; i < welded.count; ++i) points[i] = b2Vec2(welded.x[i], welded.y[i]);
  SolverShape shape;
  shape.Set(points.data(), static_cast<int32>(welded.count));
  return shape;
}

float area(const b2PolygonShape& shape) {
  return fan_area({shape.m_vertices, static_cast<size_t>(shape.m_count)});
}

void set_wheel_box(const WheelModel& w, double yaw, b2PolygonShape& box) {
  box.SetAsBox(static_cast<float>(w.radius), static_cast<float>(w.width / 2), to_b2(w.position),
               static_cast<float>(yaw));
}

b2FixtureDef fixture_def(const SolverShape& shape, double friction, double restitution) {
  b2FixtureDef def;
  def.shape = &shape;
  def.friction = static_cast<float>(friction);
  def.restitution = static_cast<float>(restitution);
  return def;
}

VehicleFigures figures_of(const VehicleModel& v, std::span<const double> params) {
  VehicleFigures out{mass_data(vehicle_mass(v, params))};
  for (const Polygon& piece : v.chassis.pieces)
    out.thickness = std::max(out.thickness, min_width(polygon(piece, 1, v.name)));
  return out;
}

void add_vehicle_shapes(const VehicleModel& v, std::span<const WheelState> states, b2Body* body,
                        std::span<WheelFixture> fixtures) {
  for (const Polygon& piece : v.chassis.pieces) {
    const SolverShape shape = polygon(piece, 1, v.name);
    const b2FixtureDef def = fixture_def(shape, 0, 0.01);
    body->CreateFixture(&def);
  }
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const double yaw = states[v.first_wheel + i].steer;
    SolverShape box;
    set_wheel_box(v.wheels[i], yaw, box);
    const b2FixtureDef def = fixture_def(box, 0.5, 0.05);
    fixtures[v.first_wheel + i] = {body->CreateFixture(&def), yaw};
  }
}

void add_block(const BlockModel& b, std::span<const double> params, double gravity, b2Body* body,
               b2Body* ground) {
  const double* p = params.data() + b.params;
  for (const Polygon& piece : b.shape.pieces) {
    const SolverShape shape = polygon(piece, p[kBlockScale], b.name);
    const b2FixtureDef def = fixture_def(shape, p[kBlockFriction], p[kBlockRestitution]);
    body->CreateFixture(&def);
  }
  if (body->GetType() != b2_dynamicBody) return;
  body->SetLinearDamping(static_cast<float>(p[kBlockLinearDamping]));
  body->SetAngularDamping(static_cast<float>(p[kBlockAngularDamping]));
  if (p[kBlockMass] <= 0) return;  // no inverse mass: nothing moves it
  const b2MassData mass = mass_data(block_mass(b, params));
  body->SetMassData(&mass);
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
    const SolverShape shape = polygon(there, 1, b.name);
    const b2FixtureDef def = fixture_def(shape, p[kBlockFriction], p[kBlockRestitution]);
    body->CreateFixture(&def);
  }
}

namespace {

// A joint in the frames of Box2D's bodies.
struct JointFrame {
  Pose2 pose_a, pose_b;
  b2Vec2 anchor_a, anchor_b;
};

JointFrame joint_frame(const Model& model, const JointModel& joint, Vec2 origin) {
  const Pose2 a = pose_in_solver_body(model, origin, joint.body_a),
              b = pose_in_solver_body(model, origin, joint.body_b);
  return {a, b, to_b2(transform(a, joint.anchor_a)), to_b2(transform(b, joint.anchor_b))};
}

}  // namespace

b2RevoluteJointDef revolute_joint(const Model& model, const JointModel& joint, Vec2 origin) {
  const JointFrame frame = joint_frame(model, joint, origin);
  b2RevoluteJointDef def;
  def.localAnchorA = frame.anchor_a;
  def.localAnchorB = frame.anchor_b;
  def.referenceAngle = static_cast<float>(joint.initial_angle + (frame.pose_a.yaw - frame.pose_b.yaw));
  def.enableLimit = joint.limited;
  def.lowerAngle = static_cast<float>(joint.lower_angle);
  def.upperAngle = static_cast<float>(joint.upper_angle);
  return def;
}

void add_joint(const Model& model, const JointModel& joint, Vec2 origin, b2Body* a, b2Body* b) {
  if (joint.type == JointType::kDistance) {
    const JointFrame frame = joint_frame(model, joint, origin);
    b2DistanceJointDef def;
    def.bodyA = a;
    def.bodyB = b;
    def.localAnchorA = frame.anchor_a;
    def.localAnchorB = frame.anchor_b;
    def.length = def.maxLength = static_cast<float>(joint.max_length);  // the spring's rest is its longest
    def.minLength = static_cast<float>(joint.min_length);
    def.stiffness = static_cast<float>(joint.stiffness);
    def.damping = static_cast<float>(joint.damping);
    a->GetWorld()->CreateJoint(&def);
  } else {
    b2RevoluteJointDef def = revolute_joint(model, joint, origin);
    def.bodyA = a;
    def.bodyB = b;
    a->GetWorld()->CreateJoint(&def);
  }
}

float thickness_of(const BlockModel& block, std::span<const double> params) {
  float thickest = 0;
  for (const Polygon& piece : block.shape.pieces)
    if (const std::optional<SolverShape> shape = solver_polygon(piece, params[block.params + kBlockScale]))
      thickest = std::max(thickest, min_width(*shape));
  return thickest;
}

}  // namespace mvsim
