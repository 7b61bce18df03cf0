#include "sim/free_motion.h"

#include <box2d/b2_common.h>
#include <box2d/b2_math.h>

namespace mvsim {

void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    RotationMemo& yaw) {
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

  body.vx = v.x;
  body.vy = v.y;
  body.omega = w;
  move_body(body, inertia, {dt * v.x, dt * v.y, dt * w}, [&](double angle) { return yaw.of(angle); });
}

}  // namespace mvsim
