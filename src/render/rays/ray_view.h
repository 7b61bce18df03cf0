// Views drawn by casting rays on the CPU: exact depth, labels, shaded colours. Distances are computed in
// double precision from the plane of the triangle that is seen. Any thread; a view depends on nothing else
// that is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "render/rays/placed_body.h"

namespace mvsim {

// Pixels as the content of the view says (ViewContent).
struct RayPicture {
  const View* view;
  std::byte* pixels;
  std::span<const uint8_t> wanted{};  // of each pixel, whether it is drawn; others stay; empty: all are
};

// Draws pictures that are seen along the same rays (have_same_rays), each as if it were alone. `poses`: one
// for each frame of the scene.
void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
               std::span<const RayPicture> pictures);

// One of them alone.
inline void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const View& view,
                      const ViewPoint& from, std::byte* pixels, std::span<const uint8_t> wanted = {}) {
  const RayPicture picture{&view, pixels, wanted};
  draw_rays(scene, poses, from, {&picture, 1});
}

}  // namespace mvsim
