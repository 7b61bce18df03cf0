// Half planes of polygons against fans of beams, shared by polygon_cast and static_shapes. Private to
// raycast/.
#pragma once

#include <span>

#include "raycast/beams.h"
#include "raycast/polygon_sides.h"

namespace mvsim {

// normal . p <= 1 of points p relative to a fan's origin: a ray of direction d crosses the line where
// 1 / t = m . d, so min and max of many need no division. Not initialised: there are arrays of them.
struct HalfPlane {
  double x, y;
};

// Min-merges into range[beams] the distance 1 / u, u = min of m . d over `front`, where 0 < u >= max of m . d
// over `back` and the distance is at most max_range. `front` is not empty.
void cast_half_planes(std::span<const HalfPlane> front, std::span<const HalfPlane> back, const Fan& fan,
                      BeamInterval beams, double max_range, float* range);

// The same as cast_polygon() for a polygon with these sides and the beams that can meet it.
void cast_sides(std::span<const PolygonSide> sides, const Fan& fan, const BeamIntervals& beams,
                double max_range, float* range);

// Whether one of range[beams] is larger than a limit.
bool any_longer(const float* range, BeamInterval beams, double limit);

}  // namespace mvsim
