// Convex polygons: rays against them, and distances to them.
#pragma once

#include <array>
#include <span>

#include "base/geometry.h"

namespace mvsim {

// Exact rays against convex polygons: a fan of uniform beams, min-merged into an array of ranges.
//
// Works in double relative to the origin, ranges are rounded to float once; every instruction set gives the
// same bits. Pure functions, any thread.

// Beams from one point: beam i looks along the unit vector (dx[i], dy[i]), which is at the angle
// first_angle + i * angle_step up to rounding. Frame and units are the caller's (world, metres, radians).
struct Fan {
  Vec2 origin;
  double first_angle = 0;
  double angle_step = 0;  // of either sign; count * |angle_step| may exceed a turn
  int count = 0;
  const float* dx = nullptr;
  const float* dy = nullptr;
};

// range[i] = min(range[i], distance to the polygon along beam i) where that is at most max_range. Vertices of
// a convex polygon in either orientation; two vertices (or all on a line) make a wall without thickness. A
// beam that starts inside of the polygon does not hit it.
void cast_polygon(const Fan& fan, std::span<const Vec2> vertices, double max_range, float* range);

// Exact distances between polygons, circles and points in double precision, for clearance and placement.
//
// Simple polygons of either orientation, convex or not, as closed sets: a distance is 0 when they touch or
// overlap. A polygon of one vertex is a point, of two a segment. Pure functions, any thread.

double polygon_point_distance(std::span<const Vec2> polygon, Vec2 point);
double polygon_distance(std::span<const Vec2> a, std::span<const Vec2> b);
// Equals polygon_distance() of two polygons that do not meet, which it does not check.
double polygon_distance_apart(std::span<const Vec2> a, std::span<const Vec2> b);
// Returns polygon_distance() from a convex polygon with vertices counter-clockwise, or `limit` if that is
// smaller. Polygons farther apart than `limit` are recognised without the distance.
double convex_distance(std::span<const Vec2> convex, std::span<const Vec2> other, double limit);

// Sides of a convex outline with vertices counter-clockwise. The way of a thing beyond one of them is a lower
// bound of its distance from the outline, and takes far less time.
class OutlineSides {
 public:
  explicit OutlineSides(std::span<const Vec2> outline);

  // How far all of a circle or a polygon is beyond the side that it is farthest beyond, m; below 0 where it
  // is beyond none.
  double beyond(Vec2 center, double radius) const;
  double beyond(std::span<const Vec2> corners) const;

 private:
  static constexpr size_t kMost = 24;  // a bound by some of the sides is one, too
  struct Side {
    Vec2 outward;  // unit vector
    double offset;
  };
  std::array<Side, kMost> sides_;
  size_t count_ = 0;
};

}  // namespace mvsim
