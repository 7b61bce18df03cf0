// Computes the place of a face's texture, equal to that of its triangles.
#pragma once

#include <span>

#include "render/level/flat_scene.h"

namespace mvsim {

// For a side of the prism, or (negative) its top or bottom. `outline`: in the eye's plane; `low`: height of
// its foot above the eye; `pixel_angle`: angle from one pixel to the next.
FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle);

}  // namespace mvsim
