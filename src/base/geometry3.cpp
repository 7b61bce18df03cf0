#include "base/geometry3.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"

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

namespace {

Quaternion quaternion_of(const Pose3& pose) {
  const SinCos a = sin_cos(pose.yaw / 2), b = sin_cos(pose.pitch / 2), g = sin_cos(pose.roll / 2);
  return {g.cos * b.cos * a.cos + g.sin * b.sin * a.sin, g.sin * b.cos * a.cos - g.cos * b.sin * a.sin,
          g.cos * b.sin * a.cos + g.sin * b.cos * a.sin, g.cos * b.cos * a.sin - g.sin * b.sin * a.cos};
}

Quaternion weighted(double s, const Quaternion& p, double t, const Quaternion& q) {
  return {s * p.w + t * q.w, s * p.x + t * q.x, s * p.y + t * q.y, s * p.z + t * q.z};
}

Quaternion slerp(const Quaternion& p, const Quaternion& q, double share) {
  constexpr double kNearlySame = 0.9995;
  const double dot = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z;
  const double sign = dot < 0 ? -1 : 1, c = std::fabs(dot);
  if (c > kNearlySame) return weighted(1 - share, p, sign * share, q);
  const double s = std::sqrt(1 - c * c), angle = math::atan2(s, c);
  return weighted(sin_cos((1 - share) * angle).sin / s, p, sign * sin_cos(share * angle).sin / s, q);
}

// Angles of a frame's axes.
Pose3 pose_of(const Frame3& f) {
  return {f.origin.x,
          f.origin.y,
          f.origin.z,
          math::atan2(f.x.y, f.x.x),
          math::atan2(-f.x.z, std::sqrt(f.x.x * f.x.x + f.x.y * f.x.y)),
          math::atan2(f.y.z, f.z.z)};
}

Frame3 frame_of(Vec3 origin, const Quaternion& q) {
  const double n = 1 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const double w = n * q.w, x = n * q.x, y = n * q.y, z = n * q.z;
  return {origin,
          {1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
}

bool is_turned(const Pose3& pose) {
  return pose.yaw != 0 || pose.pitch != 0 || pose.roll != 0;
}

// Between two frames, the turn about all axes at once.
Pose3 between(const Keyframe& a, const Keyframe& b, double time) {
  const double share = b.time > a.time ? (time - a.time) / (b.time - a.time) : 1;
  const Pose3 &p = a.pose, &q = b.pose;
  const Vec3 origin = (1 - share) * Vec3{p.x, p.y, p.z} + share * Vec3{q.x, q.y, q.z};
  if (!is_turned(p) && !is_turned(q)) return {origin.x, origin.y, origin.z};
  return pose_of(frame_of(origin, slerp(quaternion_of(p), quaternion_of(q), share)));
}

// Most animations turn nothing. Rotations by zero would give the same coordinates.
Pose3 composed(const Pose3& a, const Pose3& b) {
  if (!is_turned(a) && !is_turned(b)) return {a.x + b.x, a.y + b.y, a.z + b.z};
  return pose_of(compose(Frame3(a), Frame3(b)));
}

}  // namespace

Pose3 pose_at(const std::vector<Keyframe>& frames, const Pose3& start, double time) {
  const double period = frames.back().time;
  const double at = period > 0 ? std::fmod(time, period) : 0;
  if (at < frames.front().time) return time < period ? start : composed(start, frames.back().pose);
  const auto next = std::upper_bound(frames.begin(), frames.end(), at,
                                     [](double t, const Keyframe& frame) { return t < frame.time; });
  if (next == frames.end()) return composed(start, frames.back().pose);
  return composed(start, between(*(next - 1), *next, at));
}

}  // namespace mvsim
