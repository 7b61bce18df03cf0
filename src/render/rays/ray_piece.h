// Small parts of a scene for rays, which need no tree. Plain values, metres.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/geometry3.h"

namespace mvsim {

// An instance of few triangles. They are compared with all rays that may hit them. Other triangles are found
// by a tree.
struct RayPiece {
  Vec3 center;  // centre of a bounding sphere
  double radius = 0;
  std::vector<Vec3> points;                        // all different
  std::vector<std::array<uint32_t, 3>> triangles;  // indices in `points`; RayBody::triangles from `first` on
  uint32_t first = 0;
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
  bool is_opaque = true;
  bool is_closed = false;  // from outside a front hides each back
};

// Makes a piece of triangles, whose corners are counter-clockwise seen from their fronts.
RayPiece make_piece(std::span<const std::array<Vec3, 3>> triangles);

}  // namespace mvsim
