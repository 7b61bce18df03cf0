#include "sim/free_motion.h"

#include <box2d/b2_common.h>
#include <box2d/b2_math.h>

#include <cmath>

namespace mvsim {

BodyState place_body(const Pose2& pose, const BodyInertia& inertia) {
  const auto x = static_cast<float>(pose.x), y = static_cast<float>(pose.y),
             angle = static_cast<float>(pose.yaw);
  // its centre of mass is its reference point: no rotation moves it (sums with a zero differ for -0 only)
  if (inertia.center_x == 0 && inertia.center_y == 0 && x != 0 && y != 0 && std::isfinite(angle))
    return {.x = x, .y = y, .angle = angle, .cx = x, .cy = y};
  const b2Transform T_world_body(b2Vec2(x, y), b2Rot(angle));
  const b2Vec2 center = b2Mul(T_world_body, b2Vec2(inertia.center_x, inertia.center_y));
  return {.x = T_world_body.p.x, .y = T_world_body.p.y, .angle = angle, .cx = center.x, .cy = center.y};
}

PushedBody::PushedBody(const BodyState& body, const BodyInertia& inertia) : body_(body), inertia_(inertia) {
  const b2Rot rotation(body.angle);
  sin_ = rotation.s;
  cos_ = rotation.c;
}

Vec2 PushedBody::velocity() const {
  const float x = -inertia_.center_x, y = -inertia_.center_y;
  const b2Vec2 arm(cos_ * x - sin_ * y, sin_ * x + cos_ * y);
  return {body_.vx + -body_.omega * arm.y, body_.vy + body_.omega * arm.x};
}

void PushedBody::push(Vec2 position, Vec2 force) {
  const auto px = static_cast<float>(position.x), py = static_cast<float>(position.y);
  const auto fx = static_cast<float>(force.x), fy = static_cast<float>(force.y);
  const b2Vec2 world(cos_ * fx - sin_ * fy, sin_ * fx + cos_ * fy);
  const b2Vec2 at((cos_ * px - sin_ * py) + body_.x, (sin_ * px + cos_ * py) + body_.y);
  force_x_ += world.x;
  force_y_ += world.y;
  torque_ += b2Cross(b2Vec2(at.x - body_.cx, at.y - body_.cy), world);
}

BodyForce PushedBody::force() const {
  return {{force_x_, force_y_}, torque_};
}

void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt) {
  const auto h = static_cast<float>(dt);
  b2Vec2 v(body.vx, body.vy);
  float w = body.omega;
  v +=
      h * inertia.inverse_mass * b2Vec2(static_cast<float>(force.force.x), static_cast<float>(force.force.y));
  w += h * inertia.inverse_inertia * static_cast<float>(force.torque);
  v *= 1.0f / (1.0f + h * inertia.linear_damping);
  w *= 1.0f / (1.0f + h * inertia.angular_damping);

  const b2Vec2 translation = h * v;
  if (b2Dot(translation, translation) > b2_maxTranslationSquared)
    v *= b2_maxTranslation / translation.Length();
  const float rotation = h * w;
  if (rotation * rotation > b2_maxRotationSquared) w *= b2_maxRotation / b2Abs(rotation);

  b2Vec2 c(body.cx, body.cy);
  c += h * v;
  body.angle += h * w;
  const b2Vec2 origin = c - b2Mul(b2Rot(body.angle), b2Vec2(inertia.center_x, inertia.center_y));
  body = {origin.x, origin.y, body.angle, c.x, c.y, v.x, v.y, w};
}

}  // namespace mvsim
