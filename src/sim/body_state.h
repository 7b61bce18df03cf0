// A rigid body in the plane as Box2D keeps it: single precision, along the axes of the world from
// Model::origin.
#pragma once

#include "base/geometry.h"

namespace mvsim {

struct BodyState {
  float x = 0, y = 0, angle = 0;    // of the reference point, m and rad
  float cx = 0, cy = 0;             // of the centre of mass, m: what is integrated; x, y follow from it
  float vx = 0, vy = 0, omega = 0;  // of the centre of mass, m/s and rad/s
};

// From Model::origin.
inline Vec2 reference_point(const BodyState& b) {
  return {b.x, b.y};
}

// World frame.
inline Pose2 body_pose(const BodyState& b, Vec2 origin) {
  return {origin.x + b.x, origin.y + b.y, b.angle};
}

// What turns forces into motion, in Box2D's own numbers.
struct BodyInertia {
  float inverse_mass = 0, inverse_inertia = 0;    // 1/kg, 1/(kg m2) about the centre of mass; 0: immovable
  float center_x = 0, center_y = 0;               // centre of mass, body frame, m
  float linear_damping = 0, angular_damping = 0;  // 1/s
};

}  // namespace mvsim
