// Views drawn by casting rays on the CPU: exact depth, labels, shaded colours. Distances are computed in
// double precision from the plane of the triangle that is seen. Any thread; a view depends on nothing else
// that is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "render/placed_body.h"

namespace mvsim {

// Writes the pixels of `view` as its content says (ViewContent). `poses`: one for each frame of the scene.
// `wanted`: of each pixel whether it is to be drawn, others stay as they are; empty: all are.
void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const View& view,
               const ViewPoint& from, std::byte* pixels, std::span<const uint8_t> wanted = {});

}  // namespace mvsim
