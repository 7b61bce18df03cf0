// What is shared behind polygon_cast.h and static_shapes.h. Private to raycast/.
#pragma once

#include <span>

#include "raycast/beam_interval.h"

namespace mvsim {

// Min-merges into range[beams] the distance 1 / u, u = min of m . d over `front`, where 0 < u >= max of m . d
// over `back` and the distance is at most max_range. `front` is not empty.
void cast_half_planes(std::span<const Vec2> front, std::span<const Vec2> back, const Fan& fan,
                      BeamInterval beams, double max_range, float* range);

// cast_polygon() for the beams that can meet the polygon; at least two vertices.
void cast_convex(std::span<const Vec2> vertices, const Fan& fan, const BeamIntervals& beams, double max_range,
                 float* range);

// The largest of range[beams], -infinity for no beam.
float longest_range(const float* range, BeamInterval beams);

}  // namespace mvsim
