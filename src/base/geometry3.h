// Vectors, frames, rotations and boxes in three dimensions: metres, radians.
#pragma once

#include "base/geometry.h"

namespace mvsim {

inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vec3 operator*(double s, Vec3 a) {
  return {s * a.x, s * a.y, s * a.z};
}
inline bool operator==(Vec3 a, Vec3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
inline double dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(Vec3 a) {
  return std::sqrt(dot(a, a));
}
inline Vec3 normalized(Vec3 a) {
  const double length = norm(a);
  return length > 0 ? (1 / length) * a : Vec3{0, 0, 1};
}
inline bool is_finite(Vec3 v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

// A pose with its rotation as the axes of the frame, in the frame in which the origin is given.
struct Frame3 {
  Vec3 origin, x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  Frame3() = default;
  Frame3(Vec3 at, Vec3 x_axis, Vec3 y_axis, Vec3 z_axis) : origin(at), x(x_axis), y(y_axis), z(z_axis) {}
  explicit Frame3(const Pose3& pose);
  Vec3 rotate(Vec3 v) const { return v.x * x + v.y * y + v.z * z; }
  Vec3 transform(Vec3 v) const { return origin + rotate(v); }
};

// T_a_c = T_a_b (+) T_b_c.
inline Frame3 compose(const Frame3& a, const Frame3& b) {
  return {a.transform(b.origin), a.rotate(b.x), a.rotate(b.y), a.rotate(b.z)};
}

// Along the axes; low > high when there is nothing in it.
struct Box3 {
  Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  bool empty() const { return low.x > high.x; }
  void include(Vec3 p);
};

}  // namespace mvsim
