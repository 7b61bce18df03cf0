// Views drawn by casting rays on the CPU: exact depth, labels, shaded colours. Distances are computed in
// double precision from the plane of the triangle that is seen. Any thread; a view depends on nothing else
// that is drawn.
#pragma once

#include <cstddef>
#include <span>

#include "render/placed_body.h"

namespace mvsim {

// Pixels as the content of the view says (ViewContent).
struct RayPicture {
  const View* view;
  std::byte* pixels;
};

// Draws pictures that are seen along the same rays (have_same_rays), each as if it were alone. `poses`: one
// for each frame of the scene.
void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
               std::span<const RayPicture> pictures);

}  // namespace mvsim
