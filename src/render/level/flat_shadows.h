// Which pixels of a level picture the sun does not reach.
#pragma once

#include "render/level/flat_colors.h"

namespace mvsim {

// Marks them (kShaded) where prisms, moving or not, stand in the sun's way.
void shade_flat(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye, const FlatThings& things,
                LevelPicture& picture);

// The same for bodies that rays alone know.
void shade_by_rest(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye,
                   std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                   double lowest, LevelPicture& picture);

}  // namespace mvsim
