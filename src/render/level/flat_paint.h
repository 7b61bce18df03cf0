// Where the texture of a face lies, as its triangles have it.
#pragma once

#include <span>

#include "render/level/flat_scene.h"

namespace mvsim {

// Of a side of the prism, or (negative) of its top or bottom. `outline`: in the eye's plane; `low`: its foot
// above the eye; `pixel_angle`: from one pixel to the next.
FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle);

}  // namespace mvsim
