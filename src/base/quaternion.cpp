#include "base/quaternion.h"

#include <cmath>

#include "base/geometry3.h"
#include "base/math.h"

namespace mvsim {

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

Quaternion rotation_of(const Pose3& pose) {
  return exp_rotation({0, 0, pose.yaw}) * exp_rotation({0, pose.pitch, 0}) * exp_rotation({pose.roll, 0, 0});
}

Quaternion exp_rotation(Vec3 v) {
  const double angle = norm(v);
  const SinCos half = sin_cos(angle / 2);
  const double share = angle > 0 ? half.sin / angle : 0.5;
  return {half.cos, share * v.x, share * v.y, share * v.z};
}

Quaternion canonical(const Quaternion& q) {
  return q.w < 0 ? Quaternion{-q.w, -q.x, -q.y, -q.z} : q;
}

}  // namespace mvsim
