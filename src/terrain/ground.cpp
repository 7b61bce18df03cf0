#include "terrain/ground.h"

#include <algorithm>

#include "base/geometry3.h"

namespace mvsim {

double BlockTop::height_at(Vec2 local) const {
  switch (shape) {
    case TopShape::kFlat:
      return height;
    case TopShape::kRamp:
      return height * local.x / length_x;
    case TopShape::kBump: {
      const double t = 2 * local.y / length_y;
      return height * std::sqrt(std::max(0.0, 1 - t * t));
    }
  }
  return height;
}

static bool contains(const Polygon& convex, Vec2 p) {
  for (size_t i = 0; i < convex.size(); ++i) {
    const Vec2 a = convex[i], b = convex[(i + 1) % convex.size()];
    if (cross(b - a, p - a) < 0) return false;
  }
  return true;
}

std::optional<double> height_of(const GroundPlane& plane, Vec2 at) {
  const Vec2 local = Rotation2(plane.pose.yaw).unrotate(at - Vec2{plane.pose.x, plane.pose.y});
  const Rect& e = plane.extent;
  if (!(local.x >= e.x_min && local.x <= e.x_max && local.y >= e.y_min && local.y <= e.y_max))
    return std::nullopt;
  return plane.pose.z + plane.z;
}

std::optional<double> height_of(const PlacedTop& placed, Vec2 at) {
  const Vec2 offset = at - Vec2{placed.pose.x, placed.pose.y};
  if (dot(offset, offset) > placed.top->radius * placed.top->radius) return std::nullopt;
  const Vec2 local = Rotation2(placed.pose.yaw).unrotate(offset);
  if (!contains(placed.top->outline, local)) return std::nullopt;
  return placed.z + placed.top->height_at(local);
}

double highest_under(const Terrain& terrain, std::span<const PlacedTop> tops, Vec2 at, double z) {
  bool found = false;
  double best = 0;
  const auto consider = [&](double height) {
    if (height <= z && (!found || height > best)) {
      best = height;
      found = true;
    }
  };
  std::optional<double> lowest_map;
  for (const HeightMap& map : terrain.maps)
    if (const std::optional<double> height = map.height_at(at)) {
      consider(*height);
      lowest_map = lowest_map ? std::min(*lowest_map, *height) : height;
    }
  for (const GroundPlane& plane : terrain.planes)
    if (const std::optional<double> height = height_of(plane, at)) consider(*height);
  for (const PlacedTop& placed : tops)
    if (const std::optional<double> height = height_of(placed, at)) consider(*height);
  return found ? best : lowest_map.value_or(0);
}

std::optional<double> highest_map(const Terrain& terrain, Vec2 at) {
  std::optional<double> best;
  for (const HeightMap& map : terrain.maps)
    if (const std::optional<double> height = map.height_at(at))
      best = best ? std::max(*best, *height) : height;
  return best;
}

std::optional<PlatePose> PlateFit::solve() const {
  // points whose spread across is this part of that along leave the tilt open
  constexpr double kThinnest = 1e-6;
  if (count_ < 3) return std::nullopt;
  const Vec2 center = 1 / count_ * plate_sum_;
  // M = sum of (ground - its centroid) (plate - its centroid)^T, columns m1 and m2
  const Vec3 m1 = combine(1, x_sum_, -center.x, ground_sum_), m2 = combine(1, y_sum_, -center.y, ground_sum_);
  // the plate's x and y axes in the ground's frame: M (M^T M)^-1/2
  const double a = dot(m1, m1), b = dot(m1, m2), c = dot(m2, m2);
  const double determinant = a * c - b * b;
  if (!(determinant > 0)) return std::nullopt;
  const double s = std::sqrt(determinant);
  if (s < kThinnest * (a + c)) return std::nullopt;
  const double scale = 1 / (s * std::sqrt(a + c + 2 * s));
  const Vec3 x_axis = combine(scale * (c + s), m1, -scale * b, m2);
  const Vec3 y_axis = combine(-scale * b, m1, scale * (a + s), m2);
  const double up_z = x_axis.x * y_axis.y - x_axis.y * y_axis.x;  // of the plate's normal
  const double level = std::sqrt(y_axis.z * y_axis.z + up_z * up_z);
  return PlatePose{ground_sum_.z / count_ - (x_axis.z * center.x + y_axis.z * center.y),
                   math::atan2(-x_axis.z, level), math::atan2(y_axis.z, up_z)};
}

}  // namespace mvsim
