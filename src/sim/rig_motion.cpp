#include "sim/rig_motion.h"

#include <box2d/b2_revolute_joint.h>
#include <algorithm>
#include <cmath>
#include <utility>

namespace mvsim {
namespace {

b2Vec2 local_center(const RigBody& body) {
  return {body.inertia.center_x, body.inertia.center_y};
}

// As b2Body::SetTransform.
void place(RigBody& body, const SolverPose& pose) {
  body.position = pose.position;
  body.angle = pose.angle;
  body.rotation.Set(pose.angle);
  body.center = b2Mul(b2Transform(body.position, body.rotation), local_center(body));
}

// As Box2D changes the velocity of a body before it knows of joints.
void push(RigBody& body, const BodyForce& force, float h) {
  const BodyInertia& inertia = body.inertia;
  body.velocity += h * inertia.inverse_mass * (b2Vec2_zero + b2Vec2(force.x, force.y));
  body.omega += h * inertia.inverse_inertia * (0.0f + force.torque);
  body.velocity *= 1.0f / (1.0f + h * inertia.linear_damping);
  body.omega *= 1.0f / (1.0f + h * inertia.angular_damping);
}

void integrate(RigBody& body, float h) {
  const b2Vec2 way = h * body.velocity;
  if (b2Dot(way, way) > b2_maxTranslationSquared) body.velocity *= b2_maxTranslation / way.Length();
  const float turn = h * body.omega;
  if (turn * turn > b2_maxRotationSquared) body.omega *= b2_maxRotation / b2Abs(turn);
  body.center += h * body.velocity;
  body.angle += h * body.omega;
}

// A joint and its bodies.
class Joined {
 public:
  Joined(RigJoint& joint, std::span<RigBody> bodies)
      : joint_(joint),
        a_(bodies[joint.a]),
        b_(bodies[joint.b]),
        mass_a_(a_.inertia.inverse_mass),
        mass_b_(b_.inertia.inverse_mass),
        turning_a_(a_.inertia.inverse_inertia),
        turning_b_(b_.inertia.inverse_inertia),
        is_limited_(joint.is_limited && turning_a_ + turning_b_ > 0) {}

  // Begins with the impulses of the last step; `ratio`: of this step's length to that one's.
  void start(float ratio) {
    RigJoint& j = joint_;
    const b2Vec2 ra = j.world_arm_a = b2Mul(a_.rotation, j.arm_a);
    const b2Vec2 rb = j.world_arm_b = b2Mul(b_.rotation, j.arm_b);
    const float turning = turning_a_ + turning_b_;
    j.axial_mass = turning > 0 ? 1.0f / turning : turning;
    j.angle = b_.angle - a_.angle - j.reference;
    j.inverse_mass.ex.x = mass_a_ + mass_b_ + ra.y * ra.y * turning_a_ + rb.y * rb.y * turning_b_;
    j.inverse_mass.ey.x = -ra.y * ra.x * turning_a_ - rb.y * rb.x * turning_b_;
    j.inverse_mass.ex.y = j.inverse_mass.ey.x;
    j.inverse_mass.ey.y = mass_a_ + mass_b_ + ra.x * ra.x * turning_a_ + rb.x * rb.x * turning_b_;
    if (!is_limited_) j.lower_impulse = j.upper_impulse = 0;
    j.impulse *= ratio;
    j.lower_impulse *= ratio;
    j.upper_impulse *= ratio;
    const float axial = 0.0f + j.lower_impulse - j.upper_impulse;
    a_.velocity -= mass_a_ * j.impulse;
    a_.omega -= turning_a_ * (b2Cross(ra, j.impulse) + axial);
    b_.velocity += mass_b_ * j.impulse;
    b_.omega += turning_b_ * (b2Cross(rb, j.impulse) + axial);
  }

  void solve_velocities(int iterations, float inverse_dt) {
    // copies, which stay in registers
    const b2Vec2 ra = joint_.world_arm_a, rb = joint_.world_arm_b;
    const b2Mat22 k = joint_.inverse_mass;
    b2Vec2 va = a_.velocity, vb = b_.velocity, impulse = joint_.impulse;
    float wa = a_.omega, wb = b_.omega, lower = joint_.lower_impulse, upper = joint_.upper_impulse;
    const float low_rate = b2Max(joint_.angle - joint_.lower, 0.0f) * inverse_dt;
    const float high_rate = b2Max(joint_.upper - joint_.angle, 0.0f) * inverse_dt;
    for (int i = 0; i < iterations; ++i) {
      if (is_limited_) {
        // limits that are far away pass nothing, so that the next lines need not wait for them
        if (const float low = limit(low_rate, wb - wa, lower); low != 0) [[unlikely]] {
          wa -= turning_a_ * low;
          wb += turning_b_ * low;
        } else {
          wb += 0.0f;  // as above: zero loses its sign
        }
        if (const float high = limit(high_rate, wa - wb, upper); high != 0) [[unlikely]] {
          wa += turning_a_ * high;
          wb -= turning_b_ * high;
        } else {
          wa += 0.0f;
        }
      }
      const b2Vec2 apart = vb + b2Cross(wb, rb) - va - b2Cross(wa, ra);
      const b2Vec2 p = k.Solve(-apart);
      impulse += p;
      va -= mass_a_ * p;
      wa -= turning_a_ * b2Cross(ra, p);
      vb += mass_b_ * p;
      wb += turning_b_ * b2Cross(rb, p);
    }
    joint_.impulse = impulse;
    joint_.lower_impulse = lower;
    joint_.upper_impulse = upper;
    a_.velocity = va;
    b_.velocity = vb;
    a_.omega = wa;
    b_.omega = wb;
  }

  // Moves the bodies together. Returns whether they were near enough.
  bool solve_positions() {
    float angular_error = 0;
    if (is_limited_) {
      const float correction = limit_correction(b_.angle - a_.angle - joint_.reference);
      const float impulse = -joint_.axial_mass * correction;
      a_.angle -= turning_a_ * impulse;
      b_.angle += turning_b_ * impulse;
      angular_error = b2Abs(correction);
    }
    const b2Vec2 ra = b2Mul(b2Rot(a_.angle), joint_.arm_a), rb = b2Mul(b2Rot(b_.angle), joint_.arm_b);
    const b2Vec2 apart = b_.center + rb - a_.center - ra;
    const float error = apart.Length();
    b2Mat22 k;
    k.ex.x = mass_a_ + mass_b_ + turning_a_ * ra.y * ra.y + turning_b_ * rb.y * rb.y;
    k.ex.y = -turning_a_ * ra.x * ra.y - turning_b_ * rb.x * rb.y;
    k.ey.x = k.ex.y;
    k.ey.y = mass_a_ + mass_b_ + turning_a_ * ra.x * ra.x + turning_b_ * rb.x * rb.x;
    const b2Vec2 impulse = -k.Solve(apart);
    a_.center -= mass_a_ * impulse;
    a_.angle -= turning_a_ * b2Cross(ra, impulse);
    b_.center += mass_b_ * impulse;
    b_.angle += turning_b_ * b2Cross(rb, impulse);
    return error <= b2_linearSlop && angular_error <= b2_angularSlop;
  }

 private:
  // Impulse of a limit that is left at `speed` rad/s and may be approached at `rate`; adds it to `sum`.
  float limit(float rate, float speed, float& sum) const {
    const float before = sum, wanted = before + -joint_.axial_mass * (speed + rate);
    if (!(wanted > 0) && before == 0) [[likely]]
      return 0;
    sum = b2Max(wanted, 0.0f);
    return sum - before;
  }

  float limit_correction(float angle) const {
    const float beyond_lower = angle - joint_.lower, beyond_upper = angle - joint_.upper;
    if (b2Abs(joint_.upper - joint_.lower) < 2.0f * b2_angularSlop)
      return b2Clamp(beyond_lower, -b2_maxAngularCorrection, b2_maxAngularCorrection);
    if (angle <= joint_.lower) return b2Clamp(beyond_lower + b2_angularSlop, -b2_maxAngularCorrection, 0.0f);
    if (angle >= joint_.upper) return b2Clamp(beyond_upper - b2_angularSlop, 0.0f, b2_maxAngularCorrection);
    return 0;
  }

  RigJoint& joint_;
  RigBody &a_, &b_;
  float mass_a_, mass_b_, turning_a_, turning_b_;  // inverse, 1/kg and 1/(kg m2)
  bool is_limited_;
};

// Box2D stops bodies all of which were slow for half a second.
void rest(std::span<RigBody> bodies, std::span<const size_t> island, bool is_solved, float h) {
  constexpr float kSlow = b2_linearSleepTolerance * b2_linearSleepTolerance,
                  kTurnsSlowly = b2_angularSleepTolerance * b2_angularSleepTolerance;
  float least = b2_maxFloat;
  for (const size_t i : island) {
    RigBody& body = bodies[i];
    const bool is_slow =
        !(body.omega * body.omega > kTurnsSlowly) && !(b2Dot(body.velocity, body.velocity) > kSlow);
    body.seconds_of_rest = is_slow ? body.seconds_of_rest + h : 0;
    least = b2Min(least, body.seconds_of_rest);
  }
  if (!(least >= b2_timeToSleep && is_solved)) return;
  for (const size_t i : island) {
    bodies[i].velocity.SetZero();
    bodies[i].omega = bodies[i].seconds_of_rest = 0;
  }
}

}  // namespace

std::optional<RigMotion> RigMotion::of(const Model& model, const SimState& state) {
  RigRoom room(model, state);
  if (!room.is_known()) return std::nullopt;
  return RigMotion(model, state.solver_origin, std::move(room));
}

RigMotion::RigMotion(const Model& model, Vec2 origin, RigRoom room)
    : model_(model), origin_(origin), room_(std::move(room)) {
  std::vector<size_t> place_of(model.bodies.size());
  for (const size_t i : model.moving_bodies) {
    place_of[i] = bodies_.size();
    bodies_.emplace_back().body = i;
  }
  for (const JointModel& joint : model.joints) {
    const b2RevoluteJointDef def = revolute_joint(model, joint, origin);
    joints_.push_back({.a = place_of[joint.body_a],
                       .b = place_of[joint.body_b],
                       .anchor_a = def.localAnchorA,
                       .anchor_b = def.localAnchorB,
                       .is_limited = def.enableLimit,
                       .reference = def.referenceAngle,
                       .lower = def.lowerAngle,
                       .upper = def.upperAngle});
  }
  find_islands();
}

// In the order of b2World::Solve(), which goes to the latest body and the latest joint first.
void RigMotion::find_islands() {
  std::vector<bool> is_found(bodies_.size()), is_taken(joints_.size());
  for (size_t seed = bodies_.size(); seed-- > 0;) {
    if (is_found[seed]) continue;
    Island& island = islands_.emplace_back();
    std::vector<size_t> stack{seed};
    is_found[seed] = true;
    while (!stack.empty()) {
      const size_t body = stack.back();
      stack.pop_back();
      island.bodies.push_back(body);
      for (size_t j = joints_.size(); j-- > 0;) {
        const RigJoint& joint = joints_[j];
        if (is_taken[j] || (joint.a != body && joint.b != body)) continue;
        island.joints.push_back(j);
        is_taken[j] = true;
        const size_t other = joint.a == body ? joint.b : joint.a;
        if (is_found[other]) continue;
        is_found[other] = true;
        stack.push_back(other);
      }
    }
  }
}

void RigMotion::begin(const SimState& state, const SolverFrame& frame) {
  for (RigBody& body : bodies_) {
    const BodyState& moved = state.bodies[body.body];
    body.inertia = state.inertias[body.body];
    place(body, frame.of(state, body.body));
    body.velocity = {moved.vx, moved.vy};
    body.omega = moved.omega;
    body.seconds_of_rest = 0;
  }
  for (RigJoint& joint : joints_) {
    joint.arm_a = joint.anchor_a - local_center(bodies_[joint.a]);
    joint.arm_b = joint.anchor_b - local_center(bodies_[joint.b]);
    joint.impulse.SetZero();
    joint.lower_impulse = joint.upper_impulse = 0;
  }
  last_step_ = 0;
  room_.measure(state);
}

double RigMotion::longest_way(std::span<const std::optional<BodyForce>> forces, double dt) const {
  double longest = 0;
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const RigBody& body = bodies_[i];
    const double radius = model_.vehicles[model_.bodies[body.body].index].radius;
    double speed = body.velocity.Length(), turning = std::fabs(body.omega);
    if (forces[i]) {
      speed += dt * norm(forces[i]->force()) * body.inertia.inverse_mass;
      turning += dt * std::fabs(forces[i]->torque) * body.inertia.inverse_inertia;
    }
    longest = std::max(longest, dt * (speed + turning * (radius + local_center(body).Length())));
  }
  return longest;
}

void RigMotion::solve(const Island& island, std::span<const std::optional<BodyForce>> forces, float h) {
  const float inverse_dt = 1.0f / h, ratio = (last_step_ > 0 ? 1.0f / last_step_ : 0) * h;
  for (const size_t i : island.bodies) push(bodies_[i], forces[i].value_or(BodyForce()), h);
  for (const size_t j : island.joints) Joined(joints_[j], bodies_).start(ratio);
  // many joints take turns
  const bool is_single = island.joints.size() == 1;
  for (int i = 0; i < (is_single ? 1 : model_.velocity_iterations); ++i)
    for (const size_t j : island.joints)
      Joined(joints_[j], bodies_).solve_velocities(is_single ? model_.velocity_iterations : 1, inverse_dt);
  for (const size_t i : island.bodies) integrate(bodies_[i], h);
  bool is_solved = false;
  for (int i = 0; i < model_.position_iterations && !is_solved; ++i) {
    is_solved = true;
    for (const size_t j : island.joints)
      is_solved = Joined(joints_[j], bodies_).solve_positions() && is_solved;
  }
  for (const size_t i : island.bodies) {
    RigBody& body = bodies_[i];
    body.rotation.Set(body.angle);
    body.position = body.center - b2Mul(body.rotation, local_center(body));
  }
  rest(bodies_, island.bodies, is_solved, h);
}

void RigMotion::add_to(SimState& state, double dt, std::span<MovingBody> moving) {
  double longest = 0;
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const RigBody& body = bodies_[i];
    const BodyMove move = move_of(before_[i], {body.center, body.angle}, body.velocity, body.omega, dt);
    const BodyState before = state.bodies[body.body];
    add_to_state(state, body.body, move, body.velocity, body.omega, moving[i].yaw);
    const size_t vehicle = model_.bodies[body.body].index;
    state.vehicles[vehicle].rounded.is_known = false;
    longest = std::max(longest, room_.way_of(vehicle, before, state.bodies[body.body]));
  }
  room_.use(longest);
}

bool RigMotion::step(double dt, const SolverFrame& frame, std::span<const std::optional<BodyForce>> forces,
                     std::span<MovingBody> moving, SimState& state) {
  for (RigBody& body : bodies_) {
    const SolverPose pose = frame.of(state, body.body);
    if (is_off({body.position, body.angle}, pose)) place(body, pose);
  }
  if (!room_.is_wide_for(longest_way(forces, dt))) return false;
  const auto h = static_cast<float>(dt);
  before_.clear();
  for (RigBody& body : bodies_) {
    before_.push_back({body.center, body.angle});
    // as b2Body::SetLinearVelocity and SetAngularVelocity wake a body
    if (b2Dot(body.velocity, body.velocity) > 0 || body.omega * body.omega > 0) body.seconds_of_rest = 0;
  }
  for (const Island& island : islands_) solve(island, forces, h);
  last_step_ = h;
  add_to(state, dt, moving);
  return true;
}

namespace {

// Sets the impulses of a joint, which Box2D protects.
struct JointImpulses : b2RevoluteJoint {
  static void set(b2RevoluteJoint& to, const RigJoint& joint) {
    to.*(&JointImpulses::m_impulse) = joint.impulse;
    to.*(&JointImpulses::m_lowerImpulse) = joint.lower_impulse;
    to.*(&JointImpulses::m_upperImpulse) = joint.upper_impulse;
  }
};

void set_body(b2Body& to, const RigBody& body) {
  to.SetTransform(body.position, body.angle);
  // SetTransform() computes it anew, with other last digits
  const_cast<b2Vec2&>(to.GetWorldCenter()) = body.center;
  to.SetAwake(true);
  to.SetLinearVelocity(body.velocity);
  to.SetAngularVelocity(body.omega);
}

}  // namespace

void RigMotion::hand_over(b2World& world, std::span<const MovingBody> bodies) const {
  // the world scales impulses by the length of its own last step
  if (last_step_ > 0) world.Step(last_step_, 0, 0);
  for (size_t i = 0; i < bodies_.size(); ++i) set_body(*bodies[i].body, bodies_[i]);
  for (size_t j = 0; j < joints_.size(); ++j) {
    const RigJoint& joint = joints_[j];
    b2RevoluteJointDef def = revolute_joint(model_, model_.joints[j], origin_);
    def.bodyA = bodies[joint.a].body;
    def.bodyB = bodies[joint.b].body;
    JointImpulses::set(*static_cast<b2RevoluteJoint*>(world.CreateJoint(&def)), joint);
  }
}

}  // namespace mvsim
