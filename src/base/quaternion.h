// Unit quaternions of rotations, (w, x, y, z).
#pragma once

#include "base/geometry.h"

namespace mvsim {

struct Quaternion {
  double w = 1, x = 0, y = 0, z = 0;
};

// First b, then a.
Quaternion operator*(const Quaternion& a, const Quaternion& b);

// Rz(yaw) Ry(pitch) Rx(roll) of a pose.
Quaternion rotation_of(const Pose3& pose);

// Returns the rotation about `v` by the length of `v`, rad: the exponential map of SO(3).
Quaternion exp_rotation(Vec3 v);

// The same rotation with w >= 0.
Quaternion canonical(const Quaternion& q);

}  // namespace mvsim
