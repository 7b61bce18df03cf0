// Twists of a rigid body's reference point from the speeds of its centre of mass, and back.
#pragma once

#include "base/geometry.h"
#include "sim/body_state.h"

namespace mvsim {

// Gives the body the twist (body frame) of its reference point.
inline void set_body_twist(BodyState& body, const Twist2& twist, const BodyInertia& inertia) {
  const Vec2 center_velocity{twist.vx - inertia.center_y * twist.omega,
                             twist.vy + inertia.center_x * twist.omega};
  const Vec2 v = Rotation2(body.angle).rotate(center_velocity);
  body.vx = static_cast<float>(v.x);
  body.vy = static_cast<float>(v.y);
  body.omega = static_cast<float>(twist.omega);
}

// Returns the twist of the reference point, body frame.
inline Twist2 body_twist(const BodyState& b, const BodyInertia& inertia, const Rotation2& R_world_body) {
  const Vec2 velocity = R_world_body.unrotate({b.vx, b.vy});
  const double cx = inertia.center_x, cy = inertia.center_y;
  return {velocity.x + cy * b.omega, velocity.y - cx * b.omega, b.omega};
}

// Returns the twist of the reference point, along the axes of the world.
inline Twist2 world_twist(const BodyState& b, const BodyInertia& inertia, const Rotation2& R_world_body) {
  const Twist2 twist = body_twist(b, inertia, R_world_body);
  const Vec2 v = R_world_body.rotate({twist.vx, twist.vy});
  return {v.x, v.y, twist.omega};
}

}  // namespace mvsim
