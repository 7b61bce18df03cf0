// Exact rays against convex polygons: a fan of uniform beams, min-merged into an array of ranges.
//
// Works in double relative to the origin, ranges are rounded to float once; every instruction set gives the
// same bits. Pure functions, any thread.
#pragma once

#include <span>

#include "base/geometry.h"

namespace mvsim {

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

}  // namespace mvsim
