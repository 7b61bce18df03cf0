#include "terrain/ground.h"

#include <algorithm>

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

}  // namespace mvsim
