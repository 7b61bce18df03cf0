#include "model/block_prism.h"

#include "base/math.h"

namespace mvsim {
namespace {

// A ramp or a bump: its profile, stood upright and drawn out along its width or length.
PlacedPrism profile_prism(const BlockTop& top) {
  PlacedPrism out;
  out.T_block_prism = {{}, {1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
  if (top.shape == TopShape::kRamp) {
    out.prism = {
        {{0, 0}, {top.length_x, 0}, {top.length_x, top.height}}, -top.length_y / 2, top.length_y / 2};
    return out;
  }
  constexpr int kSides = 16;
  out.T_block_prism = {{}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  for (int i = 0; i <= kSides; ++i) {
    const SinCos sc = sin_cos(kPi * i / kSides);
    out.prism.outline.push_back({top.length_y / 2 * sc.cos, top.height * sc.sin});
  }
  out.prism.z_min = -top.length_x / 2;
  out.prism.z_max = top.length_x / 2;
  return out;
}

}  // namespace

PlacedPrism block_prism(const BlockModel& block) {
  if (block.top.shape != TopShape::kFlat) return profile_prism(block.top);
  return {{block.shape.outline, block.z_min, block.z_max, {}}, {}};
}

}  // namespace mvsim
