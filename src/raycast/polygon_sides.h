// The sides of convex polygons, as rays need them, and their half planes against fans of beams. Private to
// raycast/.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/geometry.h"
#include "raycast/beams.h"

namespace mvsim {

// A side of a polygon. Points p with normal . (p - point) > 0 are outside.
struct PolygonSide {
  Vec2 normal, point;
  double tolerance = 0;  // of that product: closes the seam between polygons that share a side
};

inline constexpr size_t kSidesOfALine = 4;

// Returns twice the area; 0 for a polygon so thin that rounding decides its area.
inline double signed_area(std::span<const Vec2> vertices) {
  double area = 0, squares = 0;
  for (size_t i = 1; i + 1 < vertices.size(); ++i) {
    const Vec2 a = vertices[i] - vertices[0], b = vertices[i + 1] - vertices[0];
    area += cross(a, b);
    squares += dot(a, a) + dot(b, b);
  }
  return std::fabs(area) > 1e-14 * squares ? area : 0;
}

// Calls use(side) for each side that has a length; at least two vertices, in either orientation. A
// polygon whose vertices are on one line has both sides of the line and two ends.
template <typename Use>
void for_each_side(std::span<const Vec2> vertices, Use use) {
  const auto take = [&](Vec2 normal, Vec2 point) {
    constexpr double kTolerance = 1e-9;  // m
    const double tolerance = kTolerance * (std::fabs(normal.x) + std::fabs(normal.y));
    if (tolerance != 0) use(PolygonSide{normal, point, tolerance});
  };
  const double orientation = signed_area(vertices);
  if (orientation == 0) {
    const auto farthest = [&](Vec2 from) {
      return *std::max_element(vertices.begin(), vertices.end(), [&](Vec2 a, Vec2 b) {
        return dot(a - from, a - from) < dot(b - from, b - from);
      });
    };
    const Vec2 a = farthest(vertices[0]), b = farthest(a), along = b - a;
    take({along.y, -along.x}, a);
    take({-along.y, along.x}, a);
    take(along, b);
    take(-1.0 * along, a);
    return;
  }
  const double outward = orientation > 0 ? 1 : -1;
  for (size_t i = 0, j = vertices.size() - 1; i < vertices.size(); j = i++) {
    const Vec2 along = outward * (vertices[i] - vertices[j]);
    take({along.y, -along.x}, vertices[j]);
  }
}

// Half planes of polygons against fans of beams, for polygon_cast.cpp and static_shapes.cpp.

// normal . p <= 1 of points p relative to a fan's origin: a ray of direction d crosses the line where
// 1 / t = m . d, so min and max of many need no division. Not initialised: there are arrays of them.
struct HalfPlane {
  double x, y;
};

// Lowers each range[beams] to the distance at which its beam, of direction d, enters the polygon: 1 / u with
// u = min of m . d over `front`. A beam misses it if u <= 0 or u < max of m . d over `back`; distances beyond
// max_range do not count. `front` is not empty.
void cast_half_planes(std::span<const HalfPlane> front, std::span<const HalfPlane> back, const Fan& fan,
                      BeamInterval beams, double max_range, float* range);

// The same as cast_polygon() for a polygon with these sides and the beams that can meet it.
void cast_sides(std::span<const PolygonSide> sides, const Fan& fan, const BeamIntervals& beams,
                double max_range, float* range);

// Whether one of range[beams] is larger than a limit.
bool any_longer(const float* range, BeamInterval beams, double limit);

// Whether anything that is at least `nearest` away could shorten one of the beams.
bool may_shorten(const BeamIntervals& beams, double nearest, const float* range);

}  // namespace mvsim
