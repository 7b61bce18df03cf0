#include "render/tile_shading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/math.h"
#include "render/color_kernel.h"

namespace mvsim {
namespace {

constexpr double kBehind = 1e-4;     // m behind a surface that a ray goes on
constexpr double kShadowGap = 1e-3;  // m above a surface that a ray to the sun begins
constexpr int kGroup = 8;            // pixels, each way, that are looked at together from the sun

double value(const GridFunction& f, const RayGrid& grid, int row, int column) {
  return f.a * grid.a[static_cast<size_t>(column)] + f.b * grid.b[static_cast<size_t>(column)] +
         f.slope * grid.slope[static_cast<size_t>(row)];
}

}  // namespace

uint32_t& TileShading::Table::at(uint64_t id) {
  if (2 * count_ >= entries_.size()) grow();
  const size_t mask = entries_.size() - 1;
  size_t i = (id * 0x9E3779B97F4A7C15u >> 32) & mask;
  while (entries_[i].id != id && entries_[i].index != kNone) i = (i + 1) & mask;
  if (entries_[i].index == kNone) {
    entries_[i].id = id;
    ++count_;
  }
  return entries_[i].index;
}

void TileShading::Table::grow() {
  std::vector<Entry> before(2 * entries_.size());
  before.swap(entries_);
  count_ = 0;
  for (const Entry& entry : before)
    if (entry.index != kNone) at(entry.id) = entry.index;
}

TileShading::TileShading(const RayScene& scene, const View& view, const ViewPoint& from,
                         std::span<const PlacedBody> bodies, const RayGrid& grid)
    : scene_(scene),
      view_(view),
      bodies_(bodies),
      grid_(grid),
      T_world_view_(from.T_world_view),
      shadow_(scene, bodies, from) {
  const Frame3& f = T_world_view_;
  const Vec3 x = shadow_.seen_by_sun(f.x), y = shadow_.seen_by_sun(f.y), z = shadow_.seen_by_sun(f.z);
  to_sun_frame_ = {over_grid(view, {x.x, y.x, z.x}), over_grid(view, {x.y, y.y, z.y}),
                   over_grid(view, {x.z, y.z, z.z})};
  up_ = over_grid(view, {f.x.z, f.y.z, f.z.z});
  pixel_angle_ = view.is_pinhole() ? 1 / std::max(view.fx, view.fy) : 2 * kPi / view.width;
}

void TileShading::begin(const RasterTile& tile) {
  colors_.assign(3 * tile.id.size(), 0);
  through_.assign(tile.id.size(), 1);
  is_first_ = true;
}

bool TileShading::add_layer(RasterTile& tile, bool is_last) {
  find_surfaces(tile);
  find_shadows(tile);
  if (is_first_ && view_.content == ViewContent::kColor) paint_sky(tile);
  ahead_.clear();
  size_t pixel = 0;
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride;
    for (int column = tile.rect.left; column < tile.rect.right; ++column, ++pixel) {
      if (!(tile.limit[pixel] > 0)) continue;
      float* const color = colors_.data() + 3 * pixel;
      Rgb seen{};
      float alpha = 1;
      if (tile.id[pixel] != RasterTile::kNothing) {
        const Surface& surface = surfaces_[surface_[pixel]];
        const bool lit = surface.is_sunlit && is_blocked_[pixel] == 0;
        alpha = surface.alpha;
        if (surface.triangle->is_plain)
          seen = lit ? surface.lit : surface.unlit;
        else if (surface.triangle->is_flat)
          seen = flat_color(surface, row, column, tile.distance[pixel], lit);
        else
          seen = color_of(surface, ray_of(view_, grid_, row, column), tile.distance[pixel], lit, alpha);
      } else if (is_first_) {
        continue;  // the sky is there
      } else if (view_.content == ViewContent::kColor) {
        seen = sky_color(scene_.sky, T_world_view_.rotate(ray_of(view_, grid_, row, column)));
      }
      if (is_last) alpha = 1;
      const float share = through_[pixel] * alpha;
      for (size_t k = 0; k < 3; ++k) color[k] = (is_first_ ? 0 : color[k]) + share * seen[k];
      through_[pixel] *= 1 - alpha;
      if (alpha < 1) ahead_.push_back(static_cast<uint32_t>(pixel));
    }
  }
  is_first_ = false;
  if (ahead_.empty()) return false;
  look_behind(tile);
  return true;
}

// Limits the tile to what is behind the pixels that are seen through.
void TileShading::look_behind(RasterTile& tile) const {
  std::ranges::fill(tile.limit, -1.0);
  std::ranges::fill(tile.id, RasterTile::kNothing);
  for (const uint32_t pixel : ahead_) {
    const double length = grid_.length[static_cast<size_t>(tile.rect.top) + pixel / tile.stride];
    const double distance = tile.distance[pixel];
    tile.limit[pixel] = 1 / ((distance + kBehind * (1 + distance)) * length);
    tile.nearness[pixel] = 1 / (view_.far * length);
  }
}

void TileShading::find_surfaces(const RasterTile& tile) {
  surface_.resize(tile.id.size());
  uint64_t last = RasterTile::kNothing;
  uint32_t index = kNone;
  for (size_t i = 0; i < tile.id.size(); ++i) {
    if (tile.id[i] == RasterTile::kNothing) continue;
    if (tile.id[i] != last) index = surface_of(last = tile.id[i]);
    surface_[i] = index;
  }
}

uint32_t TileShading::surface_of(uint64_t id) {
  uint32_t& known = table_.at(id);
  if (known != kNone) return known;
  known = static_cast<uint32_t>(surfaces_.size());
  const PlacedBody& body = body_of(bodies_, id);
  const RayTriangle& triangle = triangle_of(body, id);
  const double side = triangle.offset - dot(triangle.normal, body.eye) > 0 ? -1 : 1;
  const Vec3 flat = side * normalized(body.world_from_normal(triangle.normal));
  Surface surface{.body = &body,
                  .triangle = &triangle,
                  .side = side,
                  .lift = shadow_.seen_by_sun(flat),
                  .is_sunlit = false};
  surface.is_sunlit = surface.lift.z > 0;
  if (triangle.is_flat) set_light(surface);
  surfaces_.push_back(surface);
  return known;
}

void TileShading::set_light(Surface& surface) const {
  const PlacedBody& body = *surface.body;
  const RayCorner& corner = body.group->body->corners[surface.triangle->corners[0]];
  const Vec3 normal =
      surface.side *
      normalized(body.world_from_normal({corner.normal[0], corner.normal[1], corner.normal[2]}));
  surface.is_sunlit = surface.is_sunlit && shadow_.seen_by_sun(normal).z > 0;
  surface.lit = light_on(normal, scene_.sun, surface.is_sunlit);
  surface.unlit = light_on(normal, scene_.sun, false);
  surface.alpha = corner.alpha;
  if (!surface.triangle->is_plain) return set_base(surface);
  surface.lit = lit_color(corner.base, surface.lit);
  surface.unlit = lit_color(corner.base, surface.unlit);
}

void TileShading::set_base(Surface& surface) const {
  const PlacedBody& body = *surface.body;
  const RayTriangle& triangle = *surface.triangle;
  const auto corner = [&](size_t i) -> const RayCorner& {
    return body.group->body->corners[triangle.corners[i]];
  };
  for (size_t channel = 0; channel < 3; ++channel) {
    double rest = static_cast<double>(corner(0).base[channel]);
    Vec3 rise;
    for (size_t k = 0; k < 2; ++k) {
      const double change =
          static_cast<double>(corner(k + 1).base[channel]) - static_cast<double>(corner(0).base[channel]);
      rise = rise + change * triangle.to_weight[k];
      rest += change * (dot(triangle.to_weight[k], body.eye) - triangle.weight_offset[k]);
    }
    const Axes3& m = body.body_from_view;
    surface.base[channel] = over_grid(view_, {dot(rise, m.x), dot(rise, m.y), dot(rise, m.z)});
    surface.base_rest[channel] = rest;
  }
}

Rgb TileShading::flat_color(const Surface& surface, int row, int column, double distance, bool is_lit) const {
  const double length = distance * grid_.length[static_cast<size_t>(row)];
  Rgb base;
  for (size_t k = 0; k < 3; ++k)
    base[k] = std::max(
        0.0F, static_cast<float>(surface.base_rest[k] + length * value(surface.base[k], grid_, row, column)));
  return lit_color(base, is_lit ? surface.lit : surface.unlit);
}

void TileShading::find_shadows(const RasterTile& tile) {
  is_blocked_.assign(tile.id.size(), 0);
  if (!scene_.has_shadows) return;
  groups_.clear();
  pixels_.clear();
  for (int top = tile.rect.top; top < tile.rect.bottom; top += kGroup)
    for (int left = tile.rect.left; left < tile.rect.right; left += kGroup)
      collect(tile, {left, std::min(left + kGroup, tile.rect.right), top,
                     std::min(top + kGroup, tile.rect.bottom)});
  shadow_.find_blocked(groups_);
  for (size_t g = 0; g < groups_.size(); ++g)
    for (size_t i = 0; i < groups_[g].count; ++i)
      if (groups_[g].blocked[i] != 0) is_blocked_[pixels_[g][i]] = 1;
}

// The points of some pixels that the sun may reach.
void TileShading::collect(const RasterTile& tile, const PixelRect& rect) {
  SunPoints& points = groups_.emplace_back();
  std::array<uint32_t, SunPoints::kMost>& pixels = pixels_.emplace_back();
  constexpr double kMax = std::numeric_limits<double>::max();
  points.extent = {kMax, -kMax, kMax, -kMax};
  points.lowest = kMax;
  for (int row = rect.top; row < rect.bottom; ++row) {
    size_t pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride +
                   static_cast<size_t>(rect.left - tile.rect.left);
    for (int column = rect.left; column < rect.right; ++column, ++pixel) {
      if (tile.id[pixel] == RasterTile::kNothing || !surfaces_[surface_[pixel]].is_sunlit) continue;
      const Vec3& lift = surfaces_[surface_[pixel]].lift;
      const double distance = tile.distance[pixel], gap = kShadowGap * (1 + 1e-3 * distance),
                   length = distance * grid_.length[static_cast<size_t>(row)];
      const double u = length * value(to_sun_frame_[0], grid_, row, column) + gap * lift.x,
                   v = length * value(to_sun_frame_[1], grid_, row, column) + gap * lift.y,
                   h = length * value(to_sun_frame_[2], grid_, row, column) + gap * lift.z;
      const size_t i = points.count++;
      points.u[i] = u, points.v[i] = v, points.h[i] = h;
      pixels[i] = static_cast<uint32_t>(pixel);
      points.extent = {std::min(points.extent.x_min, u), std::max(points.extent.x_max, u),
                       std::min(points.extent.y_min, v), std::max(points.extent.y_max, v)};
      points.lowest = std::min(points.lowest, h);
    }
  }
  if (points.count > 0) return;
  groups_.pop_back();
  pixels_.pop_back();
}

// In rows that show some of it.
void TileShading::paint_sky(const RasterTile& tile) {
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    const size_t begin = static_cast<size_t>(row - tile.rect.top) * tile.stride;
    const auto first = tile.id.begin() + static_cast<ptrdiff_t>(begin);
    if (std::find(first, first + (tile.rect.right - tile.rect.left), RasterTile::kNothing) !=
        first + (tile.rect.right - tile.rect.left))
      sky_colors(scene_.sky, up_, grid_, row, static_cast<size_t>(tile.rect.left), tile.stride,
                 colors_.data() + 3 * begin);
  }
}

// Of a point of a surface that is not plain.
Rgb TileShading::color_of(const Surface& surface, const Vec3& view_ray, double distance, bool is_lit,
                          float& alpha) const {
  const PlacedBody& body = *surface.body;
  const Vec3 ray = body.body_from_view(view_ray);
  const SurfacePoint point = surface_at(*body.group->body, *surface.triangle, body.eye + distance * ray);
  const Vec3 normal = surface.side * normalized(body.world_from_normal(point.normal));
  const bool faces_sun = shadow_.seen_by_sun(normal).z > 0;
  Rgb color = lit_color(point, normal, scene_.sun, is_lit && faces_sun);
  alpha = point.alpha;
  const int texture = body.group->parts[surface.triangle->part].texture;
  if (texture == Material::kNoTexture) return color;
  const double passing = surface.triangle->texels_per_metre * distance * pixel_angle_;
  const auto level = static_cast<float>(passing > 1 ? math::log(passing) / std::numbers::ln2 : 0);
  const std::array<float, 4> texel =
      scene_.textures[static_cast<size_t>(texture)].at(point.uv[0], point.uv[1], level);
  for (size_t k = 0; k < 3; ++k) color[k] *= texel[k];
  alpha *= texel[3];
  return color;
}

}  // namespace mvsim
