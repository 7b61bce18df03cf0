// Shade of prisms on upright faces that level rays see.
#pragma once

#include "raycast/level_rays.h"

namespace mvsim {

// Parallel light in the eye's plane: it comes from where `to_sun` points, and rises by `rise` along 1 m.
struct LevelSun {
  Vec2 to_sun;  // of length 1
  double rise = 1;
};

// An upright face before the eye: a ray along d meets it where 1 / t = plane . d.
struct SeenFace {
  Vec2 plane;
  int32_t name = 0;
};

// Marks pixels of the face as shaded where `caster` blocks the sun. Every instruction set gives
// the same bits.
void shade_face(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster, const LevelSun& sun,
                ColumnRange columns, LevelPicture& picture);

// Computes the area that the outline sweeps along `way` from start to end, convex and counter-clockwise.
// Replaces the contents of `out`.
void sweep(std::span<const Vec2> outline, Vec2 way, double start, double end, Polygon& out);

}  // namespace mvsim
