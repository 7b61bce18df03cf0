#include "sim/solver_passage.h"

#include <box2d/b2_time_of_impact.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/solver_pairs.h"

namespace mvsim {

bool is_off(const SolverPose& body, const SolverPose& pose) {
  constexpr float kOff = 1e-5f, kShare = 3e-7f;  // m or rad, and of a coordinate: its last digits
  const b2Vec2 off = b2Abs(body.position - pose.position), at = b2Abs(pose.position);
  return off.x > kOff + kShare * at.x || off.y > kOff + kShare * at.y ||
         b2Abs(body.angle - pose.angle) > kOff;
}

void follow(b2Body& body, const SolverPose& pose) {
  if (is_off({body.GetPosition(), body.GetAngle()}, pose)) body.SetTransform(pose.position, pose.angle);
}

BodyMove move_of(const BodySweep& before, const BodySweep& after, b2Vec2 v, float w, double dt) {
  const auto h = static_cast<float>(dt);
  const b2Vec2 expected = before.center + h * v;
  const float expected_angle = before.angle + h * w;
  return {dt * v.x + (double{after.center.x} - expected.x), dt * v.y + (double{after.center.y} - expected.y),
          dt * w + (double{after.angle} - expected_angle)};
}

void add_to_state(SimState& state, size_t index, const BodyMove& move, b2Vec2 velocity, float omega,
                  LatestRotation& yaw) {
  BodyState& moved = state.bodies[index];
  move_body(moved, state.inertias[index], move, [&](double angle) { return yaw.of(angle); });
  moved.vx = velocity.x;
  moved.vy = velocity.y;
  moved.omega = omega;
}

void add_to_state(SimState& state, const BodyModel& kind, size_t index, const SolverFrame& frame,
                  MovingBody& moving, const BodyMove& move) {
  const b2Body& body = *moving.body;
  const bool is_rounded = frame.rounded(state, index) != nullptr;  // it began the step at that pose
  add_to_state(state, index, move, body.GetLinearVelocity(), body.GetAngularVelocity(), moving.yaw);
  if (kind.kind != BodyKind::kVehicle) return;
  RoundedPose& rounded = state.vehicles[kind.index].rounded;
  rounded.is_known = is_rounded;
  if (!is_rounded) return;
  const b2Vec2 &p = body.GetPosition(), &c = body.GetWorldCenter();
  const b2Rot& q = body.GetTransform().q;
  rounded = {p.x, p.y, body.GetAngle(), c.x, c.y, q.s, q.c, true, true};
}

void SolverMoves::before_step(std::span<const MovingBody> bodies) {
  before_.clear();
  for (const MovingBody& moving : bodies)
    before_.push_back({moving.body->GetWorldCenter(), moving.body->GetAngle()});
}

void SolverMoves::after_step(std::span<const MovingBody> bodies, double dt) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    const b2Body& body = *bodies[i].body;
    const BodyMove move = move_of(before_[i], {body.GetWorldCenter(), body.GetAngle()},
                                  body.GetLinearVelocity(), body.GetAngularVelocity(), dt);
    moves_[i].x += move.x;
    moves_[i].y += move.y;
    moves_[i].turn += move.turn;
  }
}

namespace {

constexpr float kGraze = b2_linearSlop;         // m; contacts overlap by less at rest
constexpr float kDeepAtStart = 0.5f;            // of what two measure together: they begin inside each other
constexpr float kSqueezed = 3 * b2_linearSlop;  // m, or a tenth of the body: deeper than contacts are at rest
constexpr float kSampleStep = 0.01f;            // m, between two looks at a way
constexpr int kMaxSamples = 200;

// One fixture of a body on its way.
struct Way {
  const b2PolygonShape* shape;
  b2Sweep sweep;

  b2Transform at(float t) const {
    b2Transform out;
    sweep.GetTransform(&out, t);
    return out;
  }
};

struct Extent {
  float min, max;
};

Extent extent_along(b2Vec2 axis, const b2PolygonShape& shape, const b2Transform& pose) {
  const b2Vec2 local = b2MulT(pose.q, axis);
  Extent out{std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()};
  for (int i = 0; i < shape.m_count; ++i) {
    const float v = b2Dot(local, shape.m_vertices[i]);
    out = {std::min(out.min, v), std::max(out.max, v)};
  }
  const float offset = b2Dot(axis, pose.p);
  return {out.min + offset, out.max + offset};
}

// Along the normal of a side, from the first shape to the second; < 0: they overlap.
struct ShapeSeparation {
  b2Vec2 axis;
  float distance = -std::numeric_limits<float>::max();
};

ShapeSeparation separation(const b2PolygonShape& a, const b2Transform& pose_a, const b2PolygonShape& b,
                           const b2Transform& pose_b) {
  ShapeSeparation best;
  const auto consider = [&](b2Vec2 axis) {
    const float gap = extent_along(axis, b, pose_b).min - extent_along(axis, a, pose_a).max;
    if (gap > best.distance) best = {axis, gap};
  };
  for (int i = 0; i < a.m_count; ++i) consider(b2Mul(pose_a.q, a.m_normals[i]));
  for (int i = 0; i < b.m_count; ++i) consider(-b2Mul(pose_b.q, b.m_normals[i]));
  return best;
}

b2TOIOutput first_touch(const Way& a, const Way& b) {
  b2TOIInput input;
  input.proxyA.Set(a.shape, 0);
  input.proxyB.Set(b.shape, 0);
  input.sweepA = a.sweep;
  input.sweepB = b.sweep;
  input.tMax = 1;
  b2TOIOutput output;
  b2TimeOfImpact(&output, &input);
  return output;
}

// Some moment from `t` on at which the two overlap by more than contacts do.
bool overlaps_on_way(const Way& a, const Way& b, float t, float travel) {
  const float samples = travel / kSampleStep;
  const int count = samples < kMaxSamples ? std::max(static_cast<int>(samples), 1) : kMaxSamples;
  for (int i = 1; i <= count; ++i) {
    const float s = t + (1 - t) * static_cast<float>(i) / static_cast<float>(count);
    if (separation(*a.shape, a.at(s), *b.shape, b.at(s)).distance < -kGraze) return true;
  }
  return false;
}

// A body deeper than `max_depth` m in the other one has passed. `forgiven`: of the depth at the start.
bool passes(const Way& a, const Way& b, bool touched, float travel, float max_depth, float forgiven) {
  const b2TOIOutput touch = first_touch(a, b);
  if (touch.state == b2TOIOutput::e_separated) return false;
  const float t = touch.state == b2TOIOutput::e_touching ? touch.t : 0;
  const ShapeSeparation first = separation(*a.shape, a.at(t), *b.shape, b.at(t));
  const Extent of_a = extent_along(first.axis, *a.shape, a.at(1)),
               of_b = extent_along(first.axis, *b.shape, b.at(1));
  const float before = std::max(0.0f, -first.distance), depth = of_a.max - of_b.min;
  if (before > kDeepAtStart * (of_a.max - of_a.min + of_b.max - of_b.min)) return false;
  const float distance = separation(*a.shape, a.at(1), *b.shape, b.at(1)).distance;
  const bool apart = distance > a.shape->m_radius + b.shape->m_radius;
  if (depth - forgiven * before > max_depth) return !apart || overlaps_on_way(a, b, t, travel);
  return apart && !touched && overlaps_on_way(a, b, t, travel);
}

bool is_joined(const b2Body& a, const b2Body& b) {
  for (const b2JointEdge* edge = a.GetJointList(); edge != nullptr; edge = edge->next)
    if (edge->other == &b && !edge->joint->GetCollideConnected()) return true;
  return false;
}

bool touched(const b2Body& body, const b2Fixture* mine, const b2Fixture* other) {
  for (const b2ContactEdge* edge = body.GetContactList(); edge != nullptr; edge = edge->next) {
    const b2Contact* contact = edge->contact;
    const b2Fixture *a = contact->GetFixtureA(), *b = contact->GetFixtureB();
    if ((a == mine && b == other) || (a == other && b == mine)) return contact->IsTouching();
  }
  return false;
}

// Looks at everything whose box meets that of one body's way.
class Query final : public b2QueryCallback {
 public:
  Query(std::span<const MovingBody> bodies, std::span<const BodyStart> starts, float dt,
        const PassageLimits& limits)
      : bodies_(bodies), starts_(starts), limits_(limits), dt_(dt) {}

  bool look(const b2World& world, size_t index) {
    const b2Body& body = *bodies_[index].body;
    self_ = &body;
    sweep_ = sweep_of(body, &starts_[index]);
    const MovingBody& moving = bodies_[index];
    const BodyStart& start = starts_[index];
    travel_ = b2Distance(sweep_.c0, sweep_.c) + moving.radius * std::fabs(sweep_.a - sweep_.a0);
    const float meant = dt_ * (start.velocity.Length() + moving.radius * std::fabs(start.omega));
    const float min = std::min(limits_.travel * moving.thickness, limits_.max_travel);
    if (std::max(travel_, meant) <= min && !(limits_.squeezed && is_squeezed(moving))) return false;
    thickness_ = moving.thickness;
    const b2Vec2 margin(bodies_[index].radius, bodies_[index].radius);
    b2AABB box;
    box.lowerBound = b2Min(starts_[index].position, body.GetPosition()) - margin;
    box.upperBound = b2Max(starts_[index].position, body.GetPosition()) + margin;
    found_ = false;
    world.QueryAABB(this, box);
    return found_;
  }

  bool ReportFixture(b2Fixture* other) override {
    b2Body* body = other->GetBody();
    if (body == self_ || is_joined(*self_, *body)) return true;
    const bool moves = body->GetType() == b2_dynamicBody;
    const size_t index = body->GetUserData().pointer;
    const Way there{static_cast<const b2PolygonShape*>(other->GetShape()),
                    sweep_of(*body, moves ? &starts_[index] : nullptr)};
    const float thickness = moves ? std::min(thickness_, bodies_[index].thickness) : thickness_;
    const float depth = std::min(limits_.depth * thickness, limits_.max_depth);
    for (const b2Fixture* mine = self_->GetFixtureList(); mine != nullptr && !found_;
         mine = mine->GetNext()) {
      const Way way{static_cast<const b2PolygonShape*>(mine->GetShape()), sweep_};
      found_ = passes(way, there, touched(*self_, mine, other), travel_, depth, limits_.forgiven);
    }
    return !found_;
  }

 private:
  // `start` is null for a body that does not move.
  static b2Sweep sweep_of(const b2Body& body, const BodyStart* start) {
    b2Sweep sweep;
    sweep.localCenter = body.GetLocalCenter();
    sweep.c = body.GetWorldCenter();
    sweep.a = body.GetAngle();
    sweep.c0 = start ? start->center : sweep.c;
    sweep.a0 = start ? start->angle : sweep.a;
    sweep.alpha0 = 0;
    return sweep;
  }

  // Returns whether some contact was deep when the step began.
  bool is_squeezed(const MovingBody& moving) {
    const float deep = std::max(kSqueezed, 0.1f * moving.thickness);
    for (const b2ContactEdge* edge = moving.body->GetContactList(); edge != nullptr; edge = edge->next)
      if (edge->contact->IsTouching() && separation_of(*edge->contact) < -deep) return true;
    return false;
  }
  // Two bodies in contact ask for the same one.
  float separation_of(const b2Contact& contact) {
    if (&contact != latest_) {
      latest_ = &contact;
      separation_ = deepest_separation(contact);
    }
    return separation_;
  }

  std::span<const MovingBody> bodies_;
  std::span<const BodyStart> starts_;
  const PassageLimits& limits_;
  float dt_;
  const b2Body* self_ = nullptr;
  b2Sweep sweep_;
  float travel_ = 0, thickness_ = 0;
  const b2Contact* latest_ = nullptr;  // that separation_ belongs to
  float separation_ = 0;
  bool found_ = false;
};

}  // namespace

double travel_of(const MovingBody& moving, double dt) {
  const double turning = double{moving.radius} * std::abs(moving.body->GetAngularVelocity());
  return dt * (moving.body->GetLinearVelocity().Length() + turning);
}

void find_movers(std::span<const size_t> bodies, std::span<const size_t> place_of,
                 std::span<const MovingBody> moving, std::span<const std::optional<BodyForce>> forces,
                 double dt, std::vector<Mover>& movers) {
  movers.clear();
  double fastest = 0;
  for (const size_t body : bodies) {
    const size_t i = place_of[body];
    if (i >= moving.size()) continue;
    const b2Body& b = *moving[i].body;
    const double pushed = forces[i] ? norm(forces[i]->force()) / b.GetMass() * dt * dt : 0;
    const double way = b.GetLinearVelocity().Length() * dt + pushed;
    movers.push_back({body, {b.GetPosition().x, b.GetPosition().y}, moving[i].radius, way});
    fastest = std::max(fastest, way);
  }
  for (Mover& mover : movers) {
    if (movers.size() > 1) mover.way = 2 * fastest;  // a hit body gets at most twice the speed
    mover.way = std::min(mover.way, double{b2_maxTranslation});
  }
}

BodyStart start_of(const b2Body& body) {
  return {body.GetPosition(), body.GetAngle(), body.GetWorldCenter(), body.GetLinearVelocity(),
          body.GetAngularVelocity()};
}

void put_back(b2Body& body, const BodyStart& start) {
  body.SetTransform(start.position, start.angle);
  body.SetLinearVelocity(start.velocity);
  body.SetAngularVelocity(start.omega);
}

void limit_speed(b2Body& body, float dt) {
  const b2Vec2 v = body.GetLinearVelocity();
  const float w = body.GetAngularVelocity();
  const float translation = dt * v.Length(), rotation = dt * b2Abs(w);
  if (translation > b2_maxTranslation) body.SetLinearVelocity(b2_maxTranslation / translation * v);
  if (rotation > b2_maxRotation) body.SetAngularVelocity(b2_maxRotation / rotation * w);
}

bool has_passage(const b2World& world, std::span<const MovingBody> bodies, std::span<const BodyStart> starts,
                 float dt, const PassageLimits& limits) {
  Query query(bodies, starts, dt, limits);
  for (size_t i = 0; i < bodies.size(); ++i)
    if (query.look(world, i)) return true;
  return false;
}

float min_width(const b2PolygonShape& polygon) {
  float min = std::numeric_limits<float>::max();
  const b2Transform here(b2Vec2(0, 0), b2Rot(0));
  for (int i = 0; i < polygon.m_count; ++i) {
    const Extent e = extent_along(polygon.m_normals[i], polygon, here);
    min = std::min(min, e.max - e.min);
  }
  return min;
}

namespace {

// Shapes farther apart than this, m, are no pair: it is less than the margin of their boxes.
constexpr double kFarthestPair = 0.08;
constexpr double kPairSlack = 0.01;  // m, by which Box2D lets shapes come nearer than their skins, and more

// The longest way of a point of a body that touches nothing.
double way_of(const MovingBody& moving, const std::optional<BodyForce>& force, double dt) {
  const b2Body& body = *moving.body;
  const double off = body.GetLocalCenter().Length(), mass = body.GetMass();
  double speed = body.GetLinearVelocity().Length(), turning = std::fabs(body.GetAngularVelocity());
  if (force) {
    speed += dt * norm(force->force()) / mass;
    turning += dt * std::fabs(force->torque) / (body.GetInertia() - mass * off * off);  // about the centre
  }
  return dt * (speed + turning * (moving.radius + off));
}

}  // namespace

double longest_way(std::span<const MovingBody> bodies, std::span<const std::optional<BodyForce>> forces,
                   double dt) {
  double way = 0;
  for (size_t i = 0; i < bodies.size(); ++i) way = std::max(way, way_of(bodies[i], forces[i], dt));
  return way;
}

bool nothing_meets(const b2World& world, std::span<const MovingBody> bodies,
                   std::span<const std::optional<BodyForce>> forces, double dt) {
  const double way = longest_way(bodies, forces, dt);
  const double both = bodies.size() > 1 ? 2 * way : way;
  if (!(both < kFarthestPair)) return false;
  for (const b2Contact* c = world.GetContactList(); c != nullptr; c = c->GetNext())
    if (c->IsTouching() || !are_apart(*c, both + kPairSlack)) return false;
  return true;
}

}  // namespace mvsim
