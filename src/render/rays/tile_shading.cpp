#include "render/rays/tile_shading.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr double kBehind = 1e-4;         // m behind a transparent surface at which a ray continues
constexpr double kShadowGap = 1e-3;      // m above a surface at which a ray to the sun begins
constexpr int kGroup = RayGrid::kBlock;  // pixels, each way, that are tested for shadows together

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
      eye_(from.T_world_view),
      shadow_(scene.sun, scene.has_shadows ? bodies : std::span<const PlacedBody>(), eye_.origin) {
  const Frame3& f = eye_;
  const Vec3 x = shadow_.seen_by_sun(f.x), y = shadow_.seen_by_sun(f.y), z = shadow_.seen_by_sun(f.z);
  to_sun_.axes = {over_grid(view, {x.x, y.x, z.x}), over_grid(view, {x.y, y.y, z.y}),
                  over_grid(view, {x.z, y.z, z.z})};
  to_sun_.gap = kShadowGap;
  up_ = over_grid(view, {f.x.z, f.y.z, f.z.z});
  pixel_angle_ = view.pixel_angle();
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
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    size_t pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride;
    for (int column = tile.rect.left; column < tile.rect.right;) {
      if (is_first_ && column % RayGrid::kBlock == 0 && is_uniform(tile, pixel, column)) {
        shade_block(tile, row, column, pixel);
        column += RayGrid::kBlock, pixel += RayGrid::kBlock;
        continue;
      }
      if (shade_pixel(tile, row, column, pixel, is_last)) ahead_.push_back(static_cast<uint32_t>(pixel));
      ++column, ++pixel;
    }
  }
  is_first_ = false;
  if (ahead_.empty()) return false;
  look_behind(tile);
  return true;
}

// Whether a block of columns has one flat surface in one light, or only sky.
bool TileShading::is_uniform(const RasterTile& tile, size_t pixel, int column) const {
  if (column + RayGrid::kBlock > tile.rect.right) return false;
  const uint64_t id = tile.id[pixel];
  for (size_t i = 1; i < RayGrid::kBlock; ++i)
    if (tile.id[pixel + i] != id || is_blocked_[pixel + i] != is_blocked_[pixel]) return false;
  if (id == RasterTile::kNothing) return true;
  const Surface& surface = surfaces_[surface_[pixel]];
  return surface.triangle->is_flat && surface.alpha == 1;
}

void TileShading::shade_block(const RasterTile& tile, int row, int column, size_t pixel) {
  if (tile.id[pixel] == RasterTile::kNothing) return;  // already has the sky
  const Surface& surface = surfaces_[surface_[pixel]];
  const Rgb& light = surface.is_sunlit && is_blocked_[pixel] == 0 ? surface.lit : surface.unlit;
  float* const colors = colors_.data() + 3 * pixel;
  if (!surface.triangle->is_plain)
    return even_colors(surface.even, light, grid_, row, column, tile.distance.data() + pixel, colors);
  for (size_t i = 0; i < RayGrid::kBlock; ++i) std::ranges::copy(light, colors + 3 * i);
}

// Shades a pixel. Returns whether its surface is transparent.
bool TileShading::shade_pixel(const RasterTile& tile, int row, int column, size_t pixel, bool is_last) {
  if (!(tile.limit[pixel] > 0)) return false;
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
      seen = surface.even.color(grid_, row, column, tile.distance[pixel], lit ? surface.lit : surface.unlit);
    else
      seen = color_of(surface, ray_of(view_, grid_, row, column), tile.distance[pixel], lit, alpha);
  } else if (is_first_) {
    return false;  // already has the sky
  } else if (view_.content == ViewContent::kColor) {
    seen = sky_at(row, column);
  }
  if (is_last) alpha = 1;
  if (is_first_ && alpha == 1) {
    std::ranges::copy(seen, color);
    return false;
  }
  const float share = through_[pixel] * alpha;
  for (size_t k = 0; k < 3; ++k) color[k] = (is_first_ ? 0 : color[k]) + share * seen[k];
  through_[pixel] *= 1 - alpha;
  return alpha < 1;
}

// Limits the tile to surfaces behind the transparent pixels.
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
    surface.even.base[channel] = over_grid(view_, {dot(rise, m.x), dot(rise, m.y), dot(rise, m.z)});
    surface.even.rest[channel] = rest;
  }
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

// Collects the points of some pixels that the sun may reach.
void TileShading::collect(const RasterTile& tile, const PixelRect& rect) {
  SunPoints& points = groups_.emplace_back();
  std::array<uint32_t, SunPoints::kMost>& pixels = pixels_.emplace_back();
  for (int row = rect.top; row < rect.bottom; ++row) {
    size_t pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride +
                   static_cast<size_t>(rect.left - tile.rect.left);
    const uint64_t id = tile.id[pixel];
    bool is_same = rect.right - rect.left == kGroup;
    for (size_t i = 1; is_same && i < kGroup; ++i) is_same = tile.id[pixel + i] == id;
    if (is_same && (id == RasterTile::kNothing || !surfaces_[surface_[pixel]].is_sunlit)) continue;
    if (is_same) {
      to_sun_.lift = surfaces_[surface_[pixel]].lift;
      for (size_t i = 0; i < kGroup; ++i) pixels[points.count + i] = static_cast<uint32_t>(pixel + i);
      add_block(to_sun_, grid_, row, rect.left, tile.distance.data() + pixel, points);
      continue;
    }
    for (int column = rect.left; column < rect.right; ++column, ++pixel) {
      if (tile.id[pixel] == RasterTile::kNothing || !surfaces_[surface_[pixel]].is_sunlit) continue;
      to_sun_.lift = surfaces_[surface_[pixel]].lift;
      const Vec3 point = to_sun_.point(grid_, row, column, tile.distance[pixel]);
      const size_t i = points.count++;
      points.u[i] = point.x, points.v[i] = point.y, points.h[i] = point.z;
      pixels[i] = static_cast<uint32_t>(pixel);
    }
  }
  if (points.count > 0) return enclose(points);
  groups_.pop_back();
  pixels_.pop_back();
}

// Paints the sky in rows that show some of it.
void TileShading::paint_sky(const RasterTile& tile) {
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    const size_t begin = static_cast<size_t>(row - tile.rect.top) * tile.stride;
    const auto first = tile.id.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = first + (tile.rect.right - tile.rect.left);
    auto nothing = std::find(first, last, RasterTile::kNothing);
    if (nothing == last) continue;
    if (!scene_.sky.box) {
      sky_colors(scene_.sky, up_, grid_, row, static_cast<size_t>(tile.rect.left), tile.stride,
                 colors_.data() + 3 * begin);
      continue;
    }
    for (; nothing != last; nothing = std::find(nothing + 1, last, RasterTile::kNothing)) {
      const auto column = static_cast<size_t>(nothing - first);
      std::ranges::copy(sky_at(row, tile.rect.left + static_cast<int>(column)),
                        colors_.data() + 3 * (begin + column));
    }
  }
}

Rgb TileShading::sky_at(int row, int column) const {
  return sky_color(scene_, eye_.rotate(ray_of(view_, grid_, row, column)), pixel_angle_);
}

// Returns the colour at a point of a surface that is not plain.
Rgb TileShading::color_of(const Surface& surface, const Vec3& view_ray, double distance, bool is_lit,
                          float& alpha) const {
  const PlacedBody& body = *surface.body;
  const Vec3 ray = body.body_from_view(view_ray);
  const SurfacePoint point = surface_at(*body.group->body, *surface.triangle, body.eye + distance * ray);
  const Vec3 normal = surface.side * normalized(body.world_from_normal(point.normal));
  const bool faces_sun = shadow_.seen_by_sun(normal).z > 0;
  Rgb color = lit_color(point.base, light_on(normal, scene_.sun, is_lit && faces_sun));
  alpha = point.alpha;
  const int texture = body.group->parts[surface.triangle->part].texture;
  if (texture == Material::kNoTexture) return color;
  const float level = texture_level(surface.triangle->texels_per_metre * distance * pixel_angle_);
  const std::array<float, 4> texel =
      scene_.textures[static_cast<size_t>(texture)].at(point.uv[0], point.uv[1], level);
  for (size_t k = 0; k < 3; ++k) color[k] *= texel[k];
  alpha *= texel[3];
  return color;
}

}  // namespace mvsim
