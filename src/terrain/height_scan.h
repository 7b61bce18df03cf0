// Heights of an elevation map at many points at once, in vectors.
#pragma once

#include <span>

#include "terrain/height_map.h"

namespace mvsim {

// out[i] = the map's height at origin + turn.rotate(points[i]), 0 where it has none, less `z`: the bits of
// HeightMap::height_at() on every instruction set.
void scan_heights(const HeightMap& map, Vec2 origin, const Rotation2& turn, std::span<const Vec2> points,
                  double z, float* out);

}  // namespace mvsim
