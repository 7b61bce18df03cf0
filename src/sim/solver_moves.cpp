#include "sim/solver_moves.h"

namespace mvsim {

void follow(b2Body& body, const SolverPose& pose) {
  constexpr float kOff = 1e-5f, kShare = 3e-7f;  // m or rad, and of a coordinate: its last digits
  const b2Vec2 off = b2Abs(body.GetPosition() - pose.position), at = b2Abs(pose.position);
  if (off.x > kOff + kShare * at.x || off.y > kOff + kShare * at.y ||
      b2Abs(body.GetAngle() - pose.angle) > kOff)
    body.SetTransform(pose.position, pose.angle);
}

void add_to_state(SimState& state, const BodyModel& kind, size_t index, const SolverFrame& frame,
                  const b2Body& body, const BodyMove& move) {
  const bool is_rounded = frame.rounded(state, index) != nullptr;  // it began the step at that pose
  BodyState& moved = state.bodies[index];
  move_body(moved, state.inertias[index], move, [](double angle) { return Rotation2(angle); });
  moved.vx = body.GetLinearVelocity().x;
  moved.vy = body.GetLinearVelocity().y;
  moved.omega = body.GetAngularVelocity();
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

// Adds to each body's motion the way by its velocity over `dt`, and the correction by contacts. The
// correction is exactly zero for a body that touches nothing.
void SolverMoves::after_step(std::span<const MovingBody> bodies, double dt) {
  const auto h = static_cast<float>(dt);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const b2Body& body = *bodies[i].body;
    const b2Vec2 v = body.GetLinearVelocity(), center = body.GetWorldCenter();
    const float w = body.GetAngularVelocity();
    const b2Vec2 expected = before_[i].center + h * v;
    const float expected_angle = before_[i].angle + h * w;
    moves_[i].x += dt * v.x + (double{center.x} - expected.x);
    moves_[i].y += dt * v.y + (double{center.y} - expected.y);
    moves_[i].turn += dt * w + (double{body.GetAngle()} - expected_angle);
  }
}

}  // namespace mvsim
