// Where the texture of a face lies, as its triangles have it.
#pragma once

#include "render/flat_scene.h"

namespace mvsim {

class FacePaint {
 public:
  // Of a side of the prism, or (negative) of its top or bottom. `outline`: in the eye's plane; `low`: its
  // foot above the eye.
  FacePaint(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side, double low);

  // Red, green, blue, alpha of a point of the face, in the eye's plane and above it; `passing`: how far the
  // face goes by from one pixel to the next.
  std::array<float, 4> at(Vec3 point, double passing) const;

 private:
  const MipImage* image_;
  Vec3 along_u_, along_v_;  // per metre
  double u_ = 0, v_ = 0;    // at the eye
  double texels_per_metre_ = 0;
};

}  // namespace mvsim
