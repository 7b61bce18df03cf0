#include "base/geometry3.h"

#include <algorithm>

namespace mvsim {

Frame3::Frame3(const Pose3& pose) : origin{pose.x, pose.y, pose.z} {
  const SinCos a = sin_cos(pose.yaw), b = sin_cos(pose.pitch), g = sin_cos(pose.roll);
  x = {a.cos * b.cos, a.sin * b.cos, -b.sin};
  y = {a.cos * b.sin * g.sin - a.sin * g.cos, a.sin * b.sin * g.sin + a.cos * g.cos, b.cos * g.sin};
  z = {a.cos * b.sin * g.cos + a.sin * g.sin, a.sin * b.sin * g.cos - a.cos * g.sin, b.cos * g.cos};
}

void Box3::include(Vec3 p) {
  low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
  high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
}

}  // namespace mvsim
