// State of a rigid body and its twist.
#pragma once

#include "base/geometry.h"

namespace mvsim {

// A rigid body in the plane. Its pose is in double precision along the axes of the world. Motion is added
// with compensated sums, so no rounding error builds up over long ways and many turns. Its speeds are in
// single precision, as in Box2D.

struct BodyState {
  double x = 0, y = 0, angle = 0;                // of the reference point, world frame, m and rad, unwrapped
  float x_rest = 0, y_rest = 0, angle_rest = 0;  // what these three have lost to rounding
  float vx = 0, vy = 0, omega = 0;               // of the centre of mass, m/s and rad/s
};

// Mass properties of a body, in Box2D's own numbers.
struct BodyInertia {
  float inverse_mass = 0, inverse_inertia = 0;    // 1/kg, 1/(kg m2) about the centre of mass; 0: immovable
  float center_x = 0, center_y = 0;               // centre of mass, body frame, m
  float linear_damping = 0, angular_damping = 0;  // 1/s

  bool is_centered() const { return center_x == 0 && center_y == 0; }
};

inline Vec2 reference_point(const BodyState& b) {
  return {b.x, b.y};
}

inline Pose2 body_pose(const BodyState& b) {
  return {b.x, b.y, b.angle};
}

// At rest with the reference point at `pose`.
inline BodyState place_body(const Pose2& pose) {
  return {.x = pose.x, .y = pose.y, .angle = pose.yaw};
}

// Kahan's sum.
inline void add_to(double& sum, float& rest, double change) {
  const double whole = change + rest;
  const double after = sum + whole;
  rest = static_cast<float>(whole - (after - sum));
  sum = after;
}

// Motion of one step, to be added to a pose: the way of the centre of mass (m, world axes) and the turn
// (rad).
struct BodyMove {
  double x = 0, y = 0, turn = 0;
};

// `rotation_of` is a function that returns the Rotation2 of an angle.
template <typename RotationOf>
void move_body(BodyState& body, const BodyInertia& inertia, const BodyMove& move, RotationOf&& rotation_of) {
  Vec2 way{move.x, move.y};
  if (inertia.is_centered()) {
    add_to(body.angle, body.angle_rest, move.turn);
  } else {
    const Vec2 center{inertia.center_x, inertia.center_y};
    const Vec2 before = rotation_of(body.angle).rotate(center);
    add_to(body.angle, body.angle_rest, move.turn);
    way = way + (before - rotation_of(body.angle).rotate(center));
  }
  add_to(body.x, body.x_rest, way.x);
  add_to(body.y, body.y_rest, way.y);
}

// Twists of a rigid body's reference point from the speeds of its centre of mass, and back.

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
