// Geometry in three dimensions: vectors, rotations, quaternions, meshes and keyframes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// Vectors, frames, rotations and boxes in three dimensions: metres, radians.

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

// Unit quaternions of rotations, (w, x, y, z).

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

// Triangles, as meshes are read, drawn and measured. Plain values, metres.

// Triangles. Colours and uvs are either one a vertex or none: white, and (0, 0).
struct Mesh {
  std::vector<Vec3> positions;
  std::vector<std::array<float, 3>> normals;  // one a vertex, of length 1
  std::vector<Color> colors;                  // multiply the colour of the material
  std::vector<std::array<float, 2>>
      uvs;                        // (0, 0) is the upper left corner of a texture, (1, 1) the lower right
  std::vector<uint32_t> indices;  // three a triangle, counter-clockwise seen from outside
};

// Keyframes: poses by time with interpolation between them. They repeat after the time of the last one.

struct Keyframe {
  double time = 0;  // s, ascending
  Pose3 pose;       // with respect to where the thing started
};

// Returns the pose `time` seconds after the start at `start`; rotations take the shortest way. Frames repeat.
// Before the first frame the pose is `start` in the first round, and that of the last frame in later rounds.
Pose3 pose_at(const std::vector<Keyframe>& frames, const Pose3& start, double time);

}  // namespace mvsim
