// Small parts of what rays see, which need no tree. Plain values, metres.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/geometry3.h"

namespace mvsim {

// An instance of few triangles. These are compared with all rays that they may meet; those of others are
// found by a tree.
struct RayPiece {
  Vec3 center;  // of a sphere about it
  double radius = 0;
  std::vector<Vec3> points;                        // all different
  std::vector<std::array<uint32_t, 3>> triangles;  // in `points`; of RayBody::triangles from `first` on
  uint32_t first = 0;
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
  bool is_opaque = true;
  bool is_closed = false;  // whoever sees one of its backs from outside sees a front before it
};

// Of these triangles, whose corners are counter-clockwise seen from their fronts.
RayPiece make_piece(std::span<const std::array<Vec3, 3>> triangles);

}  // namespace mvsim
