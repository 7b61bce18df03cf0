#include "scene/scene.h"

#include <algorithm>

namespace mvsim {

SkyPlace sky_place(Vec3 direction) {
  SkyPlace out;
  double nearest = -1;
  for (size_t side = 0; side < kSkySides; ++side)
    if (const double ahead = dot(kSkyBox[side].ahead, direction); ahead > nearest) {
      nearest = ahead;
      out.side = side;
    }
  if (!(nearest > 0)) return {};
  const SkySide& side = kSkyBox[out.side];
  out.u = 0.5 + 0.5 * dot(side.right, direction) / nearest;
  out.v = 0.5 + 0.5 * dot(side.down, direction) / nearest;
  return out;
}

}  // namespace mvsim
