// Finds the pixels of a level picture that are in shadow.
#pragma once

#include "render/level/flat_colors.h"

namespace mvsim {

// Marks pixels (kShaded) that prisms, moving or static, shade.
void shade_flat(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye, const FlatThings& things,
                LevelPicture& picture);

// The same for bodies that only rays can draw.
void shade_by_rest(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye,
                   std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                   double lowest, LevelPicture& picture);

}  // namespace mvsim
