#include "render/level/flat_paint.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

// Returns the rotation and scale from directions of the eye's plane to those of the shape's plane, as a
// complex number.
Vec2 turn_to_shape(std::span<const Vec2> seen, std::span<const Vec2> shape) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const size_t next = i + 1 == seen.size() ? 0 : i + 1;
    const Vec2 from = seen[next] - seen[i], to = shape[next] - shape[i];
    const double square = dot(from, from);
    if (square > 0) return {dot(from, to) / square, cross(from, to) / square};
  }
  return {1, 0};
}

// Returns the fraction of a texture coordinate, since textures repeat.
float fraction(double at) {
  return static_cast<float>(at - std::floor(at));
}

std::array<float, 3> floats(const Vec3& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}

}  // namespace

FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle) {
  const Tile& tile = look.tile;
  const Vec2 turn = turn_to_shape(outline, look.outline);
  FacePaint paint{.image = &image,
                  .texels_per_distance =
                      static_cast<float>(image.size() * std::max(1 / tile.x, 1 / tile.y) * pixel_angle)};
  if (side < 0) {
    const Vec2 a = outline[0], corner = look.outline[0];
    const Vec2 along_u{turn.x / tile.x, -turn.y / tile.x}, along_v{-turn.y / tile.y, -turn.x / tile.y};
    paint.along_u = floats({along_u.x, along_u.y, 0});
    paint.along_v = floats({along_v.x, along_v.y, 0});
    paint.u = fraction(corner.x / tile.x - dot(along_u, a));
    paint.v = fraction(-corner.y / tile.y - dot(along_v, a));
    return paint;
  }
  double before = 0;  // m along the outline
  for (int i = 0; i < side; ++i)
    before += norm(look.outline[static_cast<size_t>(i) + 1] - look.outline[static_cast<size_t>(i)]);
  const auto i = static_cast<size_t>(side);
  const Vec2 a = outline[i], along = outline[i + 1 == outline.size() ? 0 : i + 1] - a;
  const Vec2 along_u = (norm(turn) / (norm(along) * tile.x)) * along;
  paint.along_u = floats({along_u.x, along_u.y, 0});
  paint.along_v = floats({0, 0, -1 / tile.y});
  paint.u = fraction(before / tile.x - dot(along_u, a));
  paint.v = fraction(low / tile.y);
  return paint;
}

}  // namespace mvsim
