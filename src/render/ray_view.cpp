#include "render/ray_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/math.h"
#include "render/ray_shading.h"

namespace mvsim {
namespace {

constexpr int kMaxLayers = 4;             // of what one can see through
constexpr double kBehind = 1e-4;          // m behind a surface that a ray goes on
constexpr double kShadowGap = 1e-3;       // m above a surface that a ray to the sun begins
constexpr float kSunDistance = 1e5F;      // m
constexpr double kPlaneTolerance = 1e-3;  // of a distance: what single precision may be off by

// A packet of rays and what they hit.
struct Tile {
  PixelRect rect;
  int count = 0;
  std::array<int, kPacketSize> pixel{};
  std::array<Vec3, kPacketSize> ray;  // in the view's frame
  PacketLanes lanes{};
  std::array<float, kPacketSize> near{}, far{};
  std::array<const PlacedBody*, kPacketSize> body{};
  std::array<const RayTriangle*, kPacketSize> triangle{};
  std::array<double, kPacketSize> distance{};  // in lengths of the ray
};

class RayView {
 public:
  RayView(const RayScene& scene, std::span<const ScenePose> poses, const View& view, const ViewPoint& from)
      : scene_(scene), view_(view), from_(from), bodies_(place_bodies(scene, poses, view, from)) {
    const Vec3 sun = normalized(scene.sun.to_sun);
    across_sun_ = normalized(std::fabs(sun.z) < 0.9 ? cross(sun, {0, 0, 1}) : cross(sun, {1, 0, 0}));
    up_sun_ = cross(sun, across_sun_);
    to_sun_ = sun;
    per_fx_ = 1 / view.fx, per_fy_ = 1 / view.fy;
    pixel_angle_ = view.pixel_angle();
  }

  void draw(std::byte* pixels, std::span<const uint8_t> wanted) const {
    const int wide = view_.is_pinhole() ? 4 : kPacketSize, high = kPacketSize / wide;
    for (int top = 0; top < view_.height; top += high)
      for (int left = 0; left < view_.width; left += wide) {
        const PixelRect rect{left, std::min(left + wide, view_.width), top,
                             std::min(top + high, view_.height)};
        if (!wanted.empty() && !any_within(rect, wanted)) continue;
        Tile tile = tile_at(rect, wanted);
        switch (view_.content) {
          case ViewContent::kDepth:
            write_depth(tile, reinterpret_cast<float*>(pixels));
            break;
          case ViewContent::kLabels:
            write_labels(tile, reinterpret_cast<uint16_t*>(pixels));
            break;
          case ViewContent::kColor:
            write_color(tile, reinterpret_cast<uint8_t*>(pixels));
            break;
          case ViewContent::kIntensity:
            write_intensity(tile, reinterpret_cast<float*>(pixels));
            break;
        }
      }
  }

 private:
  bool any_within(const PixelRect& rect, std::span<const uint8_t> wanted) const {
    for (int row = rect.top; row < rect.bottom; ++row)
      for (int column = rect.left; column < rect.right; ++column)
        if (wanted[static_cast<size_t>(row * view_.width + column)] != 0) return true;
    return false;
  }

  Vec3 ray_of(int row, int column) const {
    if (view_.is_pinhole()) return {(column - view_.cx) * per_fx_, (row - view_.cy) * per_fy_, 1};
    const SinCos &ring = view_.rings[static_cast<size_t>(row)],
                 &turn = view_.columns[static_cast<size_t>(column)];
    return {ring.cos * turn.cos, ring.cos * turn.sin, ring.sin};
  }

  Tile tile_at(const PixelRect& rect, std::span<const uint8_t> wanted) const {
    Tile tile;
    tile.rect = rect;
    for (int row = rect.top; row < rect.bottom; ++row)
      for (int column = rect.left; column < rect.right; ++column) {
        const int pixel = row * view_.width + column;
        if (!wanted.empty() && wanted[static_cast<size_t>(pixel)] == 0) continue;
        const auto i = static_cast<size_t>(tile.count++);
        tile.pixel[i] = pixel;
        tile.ray[i] = ray_of(row, column);
        tile.lanes[i] = -1;
        tile.near[i] = static_cast<float>(view_.near);
        tile.far[i] = static_cast<float>(view_.far);
      }
    for (auto i = static_cast<size_t>(tile.count); i < kPacketSize; ++i) tile.ray[i] = tile.ray[0];
    return tile;
  }

  // Finds what the rays of the tile's lanes see first.
  void cast(Tile& tile) const {
    for (size_t i = 0; i < kPacketSize; ++i)
      if (tile.lanes[i] != 0) tile.body[i] = nullptr;
    RayPacket packet;
    for (const PlacedBody& body : bodies_) {
      if (!body.is_seen || !body.rect.meets(tile.rect)) continue;
      const auto ox = static_cast<float>(body.eye.x), oy = static_cast<float>(body.eye.y),
                 oz = static_cast<float>(body.eye.z);
      for (int i = 0; i < kPacketSize; ++i) {
        const auto k = static_cast<size_t>(i);
        const Vec3 d = body.body_from_view(tile.ray[k]);
        packet.set_ray(i, ox, oy, oz, static_cast<float>(d.x), static_cast<float>(d.y),
                       static_cast<float>(d.z), tile.near[k], tile.far[k]);
      }
      body.group->body->seen->intersect(packet, tile.lanes);
      for (size_t i = 0; i < kPacketSize; ++i) {
        if (tile.lanes[i] == 0 || packet.triangle[i] == RayPacket::kNothing) continue;
        tile.far[i] = packet.far[i];
        tile.body[i] = &body;
        tile.triangle[i] = &body.group->body->triangles[packet.triangle[i]];
      }
    }
    for (size_t i = 0; i < kPacketSize; ++i)
      if (tile.lanes[i] != 0 && tile.body[i]) tile.distance[i] = exact_distance(tile, i);
  }

  // Along the ray to the triangle's plane; where it is nearly edge-on, what Embree found.
  static double exact_distance(const Tile& tile, size_t i) {
    const PlacedBody& body = *tile.body[i];
    const RayTriangle& triangle = *tile.triangle[i];
    const double found = tile.far[i];
    const double along = dot(triangle.normal, body.body_from_view(tile.ray[i]));
    const double distance = (triangle.offset - dot(triangle.normal, body.eye)) / along;
    return std::fabs(distance - found) <= kPlaneTolerance * (1 + found) ? distance : found;
  }

  void write_depth(Tile& tile, float* pixels) const {
    cast(tile);
    for (size_t i = 0; i < static_cast<size_t>(tile.count); ++i)
      pixels[tile.pixel[i]] = tile.body[i] ? static_cast<float>(tile.distance[i]) : 0;
  }

  void write_labels(Tile& tile, uint16_t* pixels) const {
    cast(tile);
    for (size_t i = 0; i < static_cast<size_t>(tile.count); ++i)
      pixels[tile.pixel[i]] = tile.body[i] ? part_of(tile, i).label : uint16_t{0};
  }

  void write_color(Tile& tile, uint8_t* pixels) const {
    const std::array<Rgb, kPacketSize> colors = colors_of(tile);
    for (size_t i = 0; i < static_cast<size_t>(tile.count); ++i)
      for (size_t k = 0; k < 3; ++k)
        pixels[3 * static_cast<size_t>(tile.pixel[i]) + k] =
            static_cast<uint8_t>(std::lround(std::clamp(colors[i][k], 0.0F, 1.0F) * 255));
  }

  void write_intensity(Tile& tile, float* pixels) const {
    const std::array<Rgb, kPacketSize> colors = colors_of(tile, Rgb{});
    for (size_t i = 0; i < static_cast<size_t>(tile.count); ++i) {
      const Rgb& c = colors[i];
      pixels[tile.pixel[i]] = std::clamp(0.299F * c[0] + 0.587F * c[1] + 0.114F * c[2], 0.0F, 1.0F);
    }
  }

  static const RayPart& part_of(const Tile& tile, size_t i) {
    return tile.body[i]->group->parts[tile.triangle[i]->part];
  }

  // Layer by layer, from the eye to the first thing that cannot be seen through.
  std::array<Rgb, kPacketSize> colors_of(Tile& tile, std::optional<Rgb> background = {}) const {
    std::array<Rgb, kPacketSize> colors{};
    std::array<float, kPacketSize> through;
    through.fill(1);
    for (int layer = 1; layer <= kMaxLayers; ++layer) {
      cast(tile);
      const Shade shade = shade_of(tile);
      bool goes_on = false;
      for (size_t i = 0; i < kPacketSize; ++i) {
        if (tile.lanes[i] == 0) continue;
        const bool sky = !tile.body[i];
        const float alpha = sky || layer == kMaxLayers ? 1 : shade.alpha[i];
        const Rgb color =
            sky ? background.value_or(sky_color(scene_.sky, from_.T_world_view.rotate(tile.ray[i])))
                : shade.color[i];
        for (size_t k = 0; k < 3; ++k) colors[i][k] += through[i] * alpha * color[k];
        through[i] *= 1 - alpha;
        if (alpha >= 1) {
          tile.lanes[i] = 0;
          continue;
        }
        goes_on = true;
        tile.near[i] = static_cast<float>(tile.distance[i] + kBehind * (1 + tile.distance[i]));
        tile.far[i] = static_cast<float>(view_.far);
      }
      if (!goes_on) break;
    }
    return colors;
  }

  struct Shade {
    std::array<Rgb, kPacketSize> color;
    std::array<float, kPacketSize> alpha;
  };

  Shade shade_of(const Tile& tile) const {
    Shade out{};
    std::array<SurfacePoint, kPacketSize> surface;
    std::array<Vec3, kPacketSize> normal, above;  // world
    PacketLanes sunlit{};
    for (size_t i = 0; i < kPacketSize; ++i) {
      if (tile.lanes[i] == 0 || !tile.body[i]) continue;
      const PlacedBody& body = *tile.body[i];
      const RayTriangle& triangle = *tile.triangle[i];
      const Vec3 ray = body.body_from_view(tile.ray[i]);
      surface[i] = surface_at(*body.group->body, triangle, body.eye + tile.distance[i] * ray);
      const bool is_back = dot(triangle.normal, ray) > 0;
      const double side = is_back ? -1 : 1;
      normal[i] = side * normalized(body.world_from_normal(surface[i].normal));
      const Vec3 flat = side * normalized(body.world_from_normal(triangle.normal));
      above[i] = from_.T_world_view.transform(tile.distance[i] * tile.ray[i]) +
                 (kShadowGap * (1 + 1e-3 * tile.distance[i])) * flat;
      sunlit[i] = dot(normal[i], to_sun_) > 0 && dot(flat, to_sun_) > 0 ? -1 : 0;
    }
    if (scene_.has_shadows) take_shadows(above, sunlit);
    for (size_t i = 0; i < kPacketSize; ++i) {
      if (tile.lanes[i] == 0 || !tile.body[i]) continue;
      out.color[i] = lit_color(surface[i], normal[i], scene_.sun, sunlit[i] != 0);
      out.alpha[i] = surface[i].alpha;
      paint(tile, i, surface[i], out.color[i], out.alpha[i]);
    }
    return out;
  }

  void paint(const Tile& tile, size_t i, const SurfacePoint& surface, Rgb& color, float& alpha) const {
    const int texture = part_of(tile, i).texture;
    if (texture == Material::kNoTexture) return;
    const float level = texture_level(tile.triangle[i]->texels_per_metre * tile.distance[i] * pixel_angle_);
    const std::array<float, 4> texel =
        scene_.textures[static_cast<size_t>(texture)].at(surface.uv[0], surface.uv[1], level);
    for (size_t k = 0; k < 3; ++k) color[k] *= texel[k];
    alpha *= texel[3];
  }

  // Clears the lanes of points that something keeps the sun from.
  void take_shadows(const std::array<Vec3, kPacketSize>& points, PacketLanes& lanes) const {
    Rect spread{1e300, -1e300, 1e300, -1e300};
    double lowest = 1e300;
    for (size_t i = 0; i < kPacketSize; ++i) {
      if (lanes[i] == 0) continue;
      const double across = dot(points[i], across_sun_), up = dot(points[i], up_sun_);
      spread = {std::min(spread.x_min, across), std::max(spread.x_max, across), std::min(spread.y_min, up),
                std::max(spread.y_max, up)};
      lowest = std::min(lowest, dot(points[i], to_sun_));
    }
    if (lowest > 1e299) return;
    RayPacket packet;
    for (const PlacedBody& body : bodies_) {
      const TriangleTree* const tree = body.group->body->casts_shadow.get();
      if (!tree || !shades(body, spread, lowest)) continue;
      const Vec3 d = body.body_from_world(to_sun_);
      for (int i = 0; i < kPacketSize; ++i) {
        const Vec3 o = body.to_body(points[static_cast<size_t>(i)]);
        packet.set_ray(i, static_cast<float>(o.x), static_cast<float>(o.y), static_cast<float>(o.z),
                       static_cast<float>(d.x), static_cast<float>(d.y), static_cast<float>(d.z), 0,
                       kSunDistance);
      }
      tree->find_blocked(packet, lanes);
      for (size_t i = 0; i < kPacketSize; ++i)
        if (lanes[i] != 0 && packet.far[i] < 0) lanes[i] = 0;
    }
  }

  // Whether a body may stand between the sun and points that lie so, seen from the sun.
  bool shades(const PlacedBody& body, const Rect& spread, double lowest) const {
    const double across = dot(body.world_center, across_sun_), up = dot(body.world_center, up_sun_);
    return across + body.radius >= spread.x_min && across - body.radius <= spread.x_max &&
           up + body.radius >= spread.y_min && up - body.radius <= spread.y_max &&
           dot(body.world_center, to_sun_) + body.radius >= lowest;
  }

  const RayScene& scene_;
  const View& view_;
  const ViewPoint& from_;
  std::vector<PlacedBody> bodies_;
  Vec3 to_sun_, across_sun_, up_sun_;
  double pixel_angle_ = 0, per_fx_ = 1, per_fy_ = 1;
};

size_t pixel_bytes(ViewContent content) {
  switch (content) {
    case ViewContent::kColor:
      return 3;
    case ViewContent::kLabels:
      return sizeof(uint16_t);
    case ViewContent::kDepth:
    case ViewContent::kIntensity:
      return sizeof(float);
  }
  return 0;
}

}  // namespace

void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const View& view,
               const ViewPoint& from, std::byte* pixels, std::span<const uint8_t> wanted) {
  if (is_sound(from.T_world_view))
    RayView(scene, poses, view, from).draw(pixels, wanted);
  else  // of a world that has diverged
    std::fill_n(
        pixels,
        pixel_bytes(view.content) * static_cast<size_t>(view.width) * static_cast<size_t>(view.height),
        std::byte{0});
}

}  // namespace mvsim
