// Pictures of level eyes, and the place of their textures.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "render/level/flat_scene.h"
#include "render/rays/placed_body.h"

namespace mvsim {

// Computes the place of a face's texture, equal to that of its triangles.

// For a side of the prism, or (negative) its top or bottom. `outline`: in the eye's plane; `low`: height of
// its foot above the eye; `pixel_angle`: angle from one pixel to the next.
FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle);

// Views of eyes that look level, drawn column by column from the plane. They equal the views of
// render/rays/ray_view.h of the same scene, except for pixels at edges, and are many times faster. Any
// thread; a view does not depend on others.

struct FlatPicture {
  const View* view = nullptr;
  const FlatImage* image = nullptr;  // data of that view
  std::byte* pixels = nullptr;
  bool is_drawn = false;
};

// Draws pictures along the same rays (have_same_rays), each as if it were alone. `all`: returns the same
// scene for rays, which draw the colours of bodies that are not flat. A picture is left undrawn, and nothing
// is written, if its colours are not flat, if the eye leans, or if the eye is within the walls of a map.
void draw_flat(const FlatScene& scene, const std::function<const RayScene&()>& all,
               std::span<const ScenePose> poses, const ViewPoint& from, std::span<FlatPicture> pictures);

}  // namespace mvsim
