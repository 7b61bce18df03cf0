// Geometry of the plane and of poses, and geodetic coordinates (WGS84).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/math.h"

namespace mvsim {

// Plane and space geometry: metres, radians; world frame ENU, yaw counter-clockwise.

struct Vec2 {
  double x = 0, y = 0;

  friend Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Vec2 operator*(double s, Vec2 a) { return {s * a.x, s * a.y}; }
  friend bool operator==(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }
};

inline double dot(Vec2 a, Vec2 b) {
  return a.x * b.x + a.y * b.y;
}
inline double cross(Vec2 a, Vec2 b) {
  return a.x * b.y - a.y * b.x;
}
inline double norm(Vec2 a) {
  return std::sqrt(dot(a, a));
}

struct Vec3 {
  double x = 0, y = 0, z = 0;
};

struct Pose2 {
  double x = 0, y = 0, yaw = 0;
};

// Rotation R = Rz(yaw) Ry(pitch) Rx(roll): positive pitch is nose down.
struct Pose3 {
  double x = 0, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0;
};

struct Twist2 {
  double vx = 0, vy = 0, omega = 0;
};

// A rotation kept as its cosine and sine.
struct Rotation2 {
  double c = 1, s = 0;

  Rotation2() = default;
  explicit Rotation2(double angle) {
    const SinCos sc = sin_cos(angle);
    c = sc.cos;
    s = sc.sin;
  }
  Vec2 rotate(Vec2 v) const { return {c * v.x - s * v.y, s * v.x + c * v.y}; }
  Vec2 unrotate(Vec2 v) const { return {c * v.x + s * v.y, -s * v.x + c * v.y}; }
};

// Cache of the rotations of two yaws. A step uses that before it and that after it several times.

class RotationMemo {
 public:
  // The result is valid until the next call.
  const Rotation2& of(double yaw) {
    if (yaw == latest_.yaw) return latest_.rotation;
    if (yaw == previous_.yaw) return previous_.rotation;
    previous_ = latest_;
    latest_ = {yaw, Rotation2(yaw)};
    return latest_.rotation;
  }
  // For a rotation that is known from elsewhere.
  void keep(double yaw, const Rotation2& rotation) {
    if (yaw != latest_.yaw) previous_ = latest_;
    latest_ = {yaw, rotation};
  }

 private:
  struct Entry {
    double yaw = std::numeric_limits<double>::quiet_NaN();
    Rotation2 rotation;
  };
  Entry latest_, previous_;
};

// The rotation of the latest yaw alone.
class LatestRotation {
 public:
  const Rotation2& of(double yaw) {
    if (yaw != yaw_) turn_to(yaw);
    return rotation_;
  }
  void turn_to(double yaw) {
    yaw_ = yaw;
    rotation_ = Rotation2(yaw);
  }
  // The rotation if it is that of this yaw, or null.
  const Rotation2* known(double yaw) const { return yaw == yaw_ ? &rotation_ : nullptr; }

 private:
  double yaw_ = std::numeric_limits<double>::quiet_NaN();
  Rotation2 rotation_;
};

// T_a_c = T_a_b (+) T_b_c.
inline Pose2 compose(const Pose2& a, const Pose2& b) {
  const Vec2 p = Rotation2(a.yaw).rotate({b.x, b.y});
  return {a.x + p.x, a.y + p.y, a.yaw + b.yaw};
}
inline Vec2 transform(const Pose2& pose, Vec2 local) {
  return Vec2{pose.x, pose.y} + Rotation2(pose.yaw).rotate(local);
}
// Returns the point in the frame of the pose.
inline Vec2 transform_back(const Pose2& pose, Vec2 world) {
  return Rotation2(pose.yaw).unrotate({world.x - pose.x, world.y - pose.y});
}

using Polygon = std::vector<Vec2>;

struct Color {
  uint8_t r = 255, g = 255, b = 255, a = 255;

  friend bool operator==(const Color&, const Color&) = default;
};

// Side of triangles that is not drawn.
enum class CullFaces { kNone, kBack, kFront };

struct Rect {
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
};

// Returns the smallest rectangle that holds the points; there is at least one.
inline Rect box_of(std::span<const Vec2> points) {
  Rect box{points[0].x, points[0].x, points[0].y, points[0].y};
  for (const Vec2 p : points)
    box = {std::min(box.x_min, p.x), std::max(box.x_max, p.x), std::min(box.y_min, p.y),
           std::max(box.y_max, p.y)};
  return box;
}

// Returns the area of a polygon, positive if its vertices are counter-clockwise.
double area_of(const Polygon& polygon);

// Places on the Earth: the ellipsoid of WGS84, tangent planes, UTM. Angles in degrees, lengths in metres.

struct Geodetic {
  double latitude = 0, longitude = 0;  // degrees, north and east
  double height = 0;                   // m above the ellipsoid
};

// Tangent plane of the Earth: converts east, north, up from a place to geodetic coordinates. Bowring's closed
// form: within 1e-9 degrees and 1e-6 m up to some 100 km away.
class TangentPlane {
 public:
  explicit TangentPlane(const Geodetic& origin);
  Geodetic geodetic(Vec3 enu) const;

 private:
  Vec3 east_, north_, up_, origin_;  // earth-centred, earth-fixed
};

// Easting and northing (x, y) in the zone of its longitude, by Krueger's series to the fourth order (1e-5 m
// within the zone); south of the equator northing counts from 10,000 km.
Vec2 utm(const Geodetic& place);

}  // namespace mvsim
