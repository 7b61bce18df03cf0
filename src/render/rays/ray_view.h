// Views drawn by casting rays on the CPU: exact depth, labels, shaded colours. Distances are computed in
// double precision from the plane of the visible triangle. Any thread; a view does not depend on others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "render/rays/placed_body.h"

namespace mvsim {

// Pixels in the format of the view's content (ViewContent).
struct RayPicture {
  const View* view;
  std::byte* pixels;
  std::span<const uint8_t> wanted{};  // by pixel: whether it is drawn; empty: all are
};

// Draws pictures along the same rays (have_same_rays), each as if it were alone. `poses`: one for each frame
// of the scene.
void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
               std::span<const RayPicture> pictures);

// Draws one picture.
inline void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const View& view,
                      const ViewPoint& from, std::byte* pixels, std::span<const uint8_t> wanted = {}) {
  const RayPicture picture{&view, pixels, wanted};
  draw_rays(scene, poses, from, {&picture, 1});
}

}  // namespace mvsim
