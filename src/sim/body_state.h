// A rigid body in the plane as Box2D keeps it: single precision, world frame.
#pragma once

namespace mvsim {

struct BodyState {
  float x = 0, y = 0, angle = 0;    // of the reference point, m and rad
  float vx = 0, vy = 0, omega = 0;  // of the centre of mass, m/s and rad/s
};

}  // namespace mvsim
