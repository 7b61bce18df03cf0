// Views of eyes that look level, drawn column by column from the plane: what render/rays/ray_view.h draws of
// the same scene, but for pixels at edges, and many times as fast. Any thread; a view depends on nothing else
// that is drawn.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "render/level/flat_scene.h"
#include "render/rays/placed_body.h"

namespace mvsim {

struct FlatPicture {
  const View* view = nullptr;
  const FlatImage* image = nullptr;  // of that view
  std::byte* pixels = nullptr;
  bool is_drawn = false;
};

// Draws pictures that are seen along the same rays (have_same_rays), each as if it were alone. `all`: the
// same scene for rays, asked for where they draw the colours of what is not flat. Not drawn, and nothing is
// written, where this moment is not flat (the eye leans, or stands within the walls of a map) or the colours
// of a picture are not.
void draw_flat(const FlatScene& scene, const std::function<const RayScene&()>& all,
               std::span<const ScenePose> poses, const ViewPoint& from, std::span<FlatPicture> pictures);

}  // namespace mvsim
