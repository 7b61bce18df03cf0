// Exact distances between polygons, circles and points in double precision, for clearance and placement.
//
// Simple polygons of either orientation, convex or not, as closed sets: a distance is 0 when they touch or
// overlap. A polygon of one vertex is a point, of two a segment. Pure functions, any thread.
#pragma once

#include <span>

#include "base/geometry.h"

namespace mvsim {

double segment_point_distance(Vec2 a, Vec2 b, Vec2 point);
bool point_in_polygon(std::span<const Vec2> polygon, Vec2 point);  // border included up to rounding
double polygon_point_distance(std::span<const Vec2> polygon, Vec2 point);
double polygon_circle_distance(std::span<const Vec2> polygon, Vec2 center, double radius);
double polygon_distance(std::span<const Vec2> a, std::span<const Vec2> b);
// The same for two polygons that are known not to meet.
double polygon_distance_apart(std::span<const Vec2> a, std::span<const Vec2> b);
// The same from a convex polygon, counter-clockwise, at most `limit`: quick where it is farther than that.
double convex_distance(std::span<const Vec2> convex, std::span<const Vec2> other, double limit);

}  // namespace mvsim
