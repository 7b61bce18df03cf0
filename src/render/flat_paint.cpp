#include "render/flat_paint.h"

#include <algorithm>

#include "render/ray_shading.h"

namespace mvsim {
namespace {

// The turn and scale that takes directions of the eye's plane to those of the shape's, as a complex number.
Vec2 turn_to_shape(std::span<const Vec2> seen, std::span<const Vec2> shape) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const size_t next = i + 1 == seen.size() ? 0 : i + 1;
    const Vec2 from = seen[next] - seen[i], to = shape[next] - shape[i];
    const double square = dot(from, from);
    if (square > 0) return {dot(from, to) / square, cross(from, to) / square};
  }
  return {1, 0};
}

}  // namespace

FacePaint::FacePaint(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                     double low)
    : image_(&image) {
  const Tile& tile = look.tile;
  const Vec2 turn = turn_to_shape(outline, look.outline);
  texels_per_metre_ = image.size() * std::max(1 / tile.x, 1 / tile.y);
  if (side < 0) {
    const Vec2 a = outline[0], corner = look.outline[0];
    along_u_ = {turn.x / tile.x, -turn.y / tile.x, 0};
    along_v_ = {-turn.y / tile.y, -turn.x / tile.y, 0};
    u_ = corner.x / tile.x - (along_u_.x * a.x + along_u_.y * a.y);
    v_ = -corner.y / tile.y - (along_v_.x * a.x + along_v_.y * a.y);
    return;
  }
  double before = 0;  // m along the outline
  for (int i = 0; i < side; ++i)
    before += norm(look.outline[static_cast<size_t>(i) + 1] - look.outline[static_cast<size_t>(i)]);
  const auto i = static_cast<size_t>(side);
  const Vec2 a = outline[i], along = outline[i + 1 == outline.size() ? 0 : i + 1] - a;
  const Vec2 per_u = (norm(turn) / (norm(along) * tile.x)) * along;
  along_u_ = {per_u.x, per_u.y, 0};
  along_v_ = {0, 0, -1 / tile.y};
  u_ = before / tile.x - dot(per_u, a);
  v_ = low / tile.y;
}

std::array<float, 4> FacePaint::at(Vec3 point, double passing) const {
  return image_->at(static_cast<float>(u_ + dot(along_u_, point)),
                    static_cast<float>(v_ + dot(along_v_, point)),
                    texture_level(texels_per_metre_ * passing));
}

}  // namespace mvsim
