#include "sim/free_motion.h"

#include <box2d/b2_common.h>
#include <box2d/b2_math.h>

namespace mvsim {

BodyState place_turned_body(float x, float y, float angle, const BodyInertia& inertia) {
  const b2Transform T_world_body(b2Vec2(x, y), b2Rot(angle));
  const b2Vec2 center = b2Mul(T_world_body, b2Vec2(inertia.center_x, inertia.center_y));
  return {.x = T_world_body.p.x, .y = T_world_body.p.y, .angle = angle, .cx = center.x, .cy = center.y};
}

BodyRotation::Value BodyRotation::rotation_of(float angle) {
  const b2Rot rotation(angle);
  return {rotation.s, rotation.c};
}

void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    BodyRotation& memo) {
  const auto h = static_cast<float>(dt);
  b2Vec2 v(body.vx, body.vy);
  float w = body.omega;
  v += h * inertia.inverse_mass * b2Vec2(force.x, force.y);
  w += h * inertia.inverse_inertia * force.torque;
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
  const BodyRotation::Value& now = memo.of(body.angle);
  b2Rot rotation_after;
  rotation_after.s = now.sin;
  rotation_after.c = now.cos;
  const b2Vec2 origin = c - b2Mul(rotation_after, b2Vec2(inertia.center_x, inertia.center_y));
  body = {origin.x, origin.y, body.angle, c.x, c.y, v.x, v.y, w};
}

}  // namespace mvsim
