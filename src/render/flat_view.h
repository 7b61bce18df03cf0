// Views of eyes that look level, drawn column by column from the plane: what render/ray_view.h draws of the
// same scene, but for pixels at edges, and many times as fast. Any thread; a view depends on nothing else
// that is drawn.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "render/flat_scene.h"
#include "render/placed_body.h"

namespace mvsim {

// Writes the pixels of `view`, which is `image`. `all`: the same scene for rays, asked for where they draw
// the colours of what is not flat. False, and nothing is written, where this moment is not flat (the eye
// leans, or stands within the walls of a map) or its colours are not.
bool draw_flat(const FlatScene& scene, const FlatImage& image, const std::function<const RayScene&()>& all,
               std::span<const ScenePose> poses, const View& view, const ViewPoint& from, std::byte* pixels);

}  // namespace mvsim
