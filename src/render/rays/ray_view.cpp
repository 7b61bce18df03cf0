#include "render/rays/ray_view.h"

#include <algorithm>
#include <cmath>

#include "render/rays/tile_shading.h"

namespace mvsim {
namespace {

constexpr double kPlaneTolerance = 1e-3;  // relative error of single precision
constexpr double kBeyond = 4e-6;          // relative: Embree searches this much farther

// Returns the distance along the ray to the triangle's plane, or that of Embree if the plane is nearly
// edge-on.
double exact_distance(const PlacedBody& body, const RayTriangle& triangle, Vec3 ray, double found) {
  const double along = dot(triangle.normal, body.body_from_view(ray));
  const double distance = (triangle.offset - dot(triangle.normal, body.eye)) / along;
  return std::fabs(distance - found) <= kPlaneTolerance * (1 + found) ? distance : found;
}

bool is_traced(const PlacedBody& body) {
  return body.is_seen && body.group->body->seen;
}

constexpr int kMaxLayers = 4;  // of transparent surfaces

bool shows_colors(const View& view) {
  return view.content == ViewContent::kColor || view.content == ViewContent::kIntensity;
}

// Returns a view that covers all of the pictures.
View view_of(std::span<const RayPicture> pictures) {
  View all = *pictures.front().view;
  for (const RayPicture& picture : pictures) {
    if (shows_colors(*picture.view)) all.content = picture.view->content;
    all.near = std::min(all.near, picture.view->near);
    all.far = std::max(all.far, picture.view->far);
  }
  return all;
}

// Returns the largest near distance of the pictures.
double last_near(std::span<const RayPicture> pictures) {
  double near = 0;
  for (const RayPicture& picture : pictures) near = std::max(near, picture.view->near);
  return near;
}

class RayView {
 public:
  RayView(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
          std::span<const RayPicture> pictures)
      : view_(view_of(pictures)),
        bodies_(place_bodies(scene, poses, view_, from)),
        grid_(ray_grid(view_)),
        triangles_(triangles_in_view(bodies_, view_, grid_, last_near(pictures))),
        traced_bodies_(bodies_, view_, grid_) {
    for (const RayPicture& picture : pictures) {
      if (shows_colors(*picture.view))
        colored_.push_back({picture, TileShading(scene, *picture.view, from, bodies_, grid_)});
      else
        plain_.push_back(picture);
    }
  }

  void draw() {
    const auto most = static_cast<int>(RasterTile::kPixels);
    const int high = std::min(view_.height, view_.is_pinhole() ? 32 : 64);
    const int wide = most / high / RayGrid::kBlock * RayGrid::kBlock;
    RasterTile tile;
    for (int top = 0; top < view_.height; top += high)
      for (int left = 0; left < view_.width; left += wide) {
        tile.rect = {left, std::min(left + wide, view_.width), top, std::min(top + high, view_.height)};
        draw(tile);
      }
  }

 private:
  struct Colored {
    RayPicture picture;
    TileShading shading;
  };

  void draw(RasterTile& tile) {
    const auto wants = [&](const RayPicture& picture) { return wants_some(picture, tile.rect); };
    const auto colors = [](const Colored& colored) { return colored.picture; };
    if (std::ranges::none_of(plain_, wants) && std::ranges::none_of(colored_, wants, colors)) return;
    find_all(view_, tile);
    for (const RayPicture& picture : plain_) {
      if (!is_within(*picture.view, tile)) {  // it shows surfaces behind the nearest one
        find_all(*picture.view, tile);
        write(picture, tile);
        find_all(view_, tile);
      } else {
        write(picture, tile);
      }
    }
    for (Colored& colored : colored_) {
      if (&colored != &colored_.front() || !is_within(*colored.picture.view, tile))
        find_all(*colored.picture.view, tile);
      write(colored, tile);
    }
  }

  bool wants_some(const RayPicture& picture, const PixelRect& rect) const {
    if (picture.wanted.empty()) return true;
    for (int row = rect.top; row < rect.bottom; ++row) {
      const auto first = picture.wanted.begin() + static_cast<ptrdiff_t>(row) * view_.width;
      if (std::any_of(first + rect.left, first + rect.right, [](uint8_t w) { return w != 0; })) return true;
    }
    return false;
  }

  // Whether the tile has the correct content for the view in each pixel.
  bool is_within(const View& view, const RasterTile& tile) const {
    if (view.near == view_.near && view.far == view_.far) return true;
    const double far = view.far * (1 + RasterTile::kAtLimit);
    double nearest = view.near, farthest = 0;
    for (const double distance : tile.distance) {
      if (distance > 0) nearest = std::min(nearest, distance);
      farthest = std::max(farthest, distance);
    }
    return nearest >= view.near * (1 - RasterTile::kAtLimit) && (farthest <= far || !shows_colors(view));
  }

  void find_all(const View& view, RasterTile& tile) const {
    clear_tile(grid_, tile.rect, view.near, view.far, tile);
    find_nearest(view, tile);
  }

  void find_nearest(const View& view, RasterTile& tile) const {
    draw_triangles(triangles_, grid_, tile);
    set_distances(grid_, tile);
    traced_bodies_.merge(view.far, tile);
  }

  void write(const RayPicture& picture, const RasterTile& tile) const {
    const double far = picture.view->far * (1 + RasterTile::kAtLimit);
    if (picture.view->content == ViewContent::kDepth)
      for_rows(tile, picture.wanted, [&](size_t from, size_t to, size_t count) {
        copy_distances({tile.distance.data() + from, count}, far,
                       reinterpret_cast<float*>(picture.pixels) + to);
      });
    else
      write_labels(picture, tile, far);
  }

  // Adds layers from the eye to the first opaque surface.
  void write(Colored& colored, RasterTile& tile) const {
    TileShading& shading = colored.shading;
    shading.begin(tile);
    for (int layer = 1; shading.add_layer(tile, layer == kMaxLayers); ++layer)
      find_nearest(*colored.picture.view, tile);
    std::byte* const pixels = colored.picture.pixels;
    const bool is_color = colored.picture.view->content == ViewContent::kColor;
    for_rows(tile, colored.picture.wanted, [&](size_t from, size_t to, size_t count) {
      const float* c = shading.colors() + 3 * from;
      if (is_color) return color_bytes({c, 3 * count}, reinterpret_cast<uint8_t*>(pixels) + 3 * to);
      auto* const out = reinterpret_cast<float*>(pixels) + to;
      for (size_t i = 0; i < count; ++i, c += 3)
        out[i] = std::clamp(0.299F * c[0] + 0.587F * c[1] + 0.114F * c[2], 0.0F, 1.0F);
    });
  }

  // Calls write(index in the tile, index in the view, number of pixels) for all wanted pixels of a tile, row
  // by row.
  template <typename Write>
  void for_rows(const RasterTile& tile, std::span<const uint8_t> wanted, const Write& write) const {
    const auto wide = static_cast<size_t>(tile.rect.right - tile.rect.left);
    for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
      const size_t from = static_cast<size_t>(row - tile.rect.top) * tile.stride;
      const size_t to =
          static_cast<size_t>(row) * static_cast<size_t>(view_.width) + static_cast<size_t>(tile.rect.left);
      if (wanted.empty()) {
        write(from, to, wide);
        continue;
      }
      for (size_t begin = 0, end = 0; begin < wide; begin = end + 1) {
        for (end = begin; end < wide && wanted[to + end] != 0;) ++end;
        if (end > begin) write(from + begin, to + begin, end - begin);
      }
    }
  }

  void write_labels(const RayPicture& picture, const RasterTile& tile, double far) const {
    auto* const pixels = reinterpret_cast<uint16_t*>(picture.pixels);
    uint64_t last = RasterTile::kNothing;
    uint16_t label = 0;
    for_rows(tile, picture.wanted, [&](size_t from, size_t to, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        if (const uint64_t id = tile.id[from + i]; id != last) label = label_of(last = id);
        pixels[to + i] = tile.distance[from + i] <= far ? label : uint16_t{0};
      }
    });
  }

  uint16_t label_of(uint64_t id) const {
    if (id == RasterTile::kNothing) return 0;
    const PlacedBody& body = body_of(bodies_, id);
    return body.group->parts[triangle_of(body, id).part].label;
  }

  const View view_;
  const std::vector<PlacedBody> bodies_;
  const RayGrid grid_;
  const std::vector<RasterTriangle> triangles_;
  const TracedBodies traced_bodies_;
  std::vector<RayPicture> plain_;
  std::vector<Colored> colored_;
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

struct TracedBodies::Packet {
  PixelRect rect;
  size_t count = 0;
  PacketLanes lanes{};
  std::array<size_t, kPacketSize> pixel{};  // in the tile
  std::array<Vec3, kPacketSize> ray;        // in the view's frame
  std::array<float, kPacketSize> near{}, far{};
};

TracedBodies::TracedBodies(std::span<const PlacedBody> bodies, const View& view, const RayGrid& grid)
    : bodies_(bodies), view_(view), grid_(grid), has_any_(std::ranges::any_of(bodies, is_traced)) {}

void TracedBodies::merge(double far, RasterTile& tile) const {
  if (!has_any_) return;
  const int wide = view_.is_pinhole() ? 4 : kPacketSize, high = kPacketSize / wide;
  const PixelRect& all = tile.rect;
  for (int top = all.top; top < all.bottom; top += high)
    for (int left = all.left; left < all.right; left += wide) {
      const PixelRect rect{left, std::min(left + wide, all.right), top, std::min(top + high, all.bottom)};
      Packet packet;
      for (const PlacedBody& body : bodies_) {
        if (!is_traced(body) || !body.rect.meets(rect)) continue;
        if (packet.count == 0) packet = packet_at(tile, rect, far);
        cast(body, packet, tile);
      }
    }
}

TracedBodies::Packet TracedBodies::packet_at(const RasterTile& tile, const PixelRect& rect,
                                             double far) const {
  Packet packet;
  packet.rect = rect;
  for (int row = rect.top; row < rect.bottom; ++row)
    for (int column = rect.left; column < rect.right; ++column) {
      const size_t i = packet.count++;
      const size_t pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride +
                           static_cast<size_t>(column - tile.rect.left);
      packet.pixel[i] = pixel;
      packet.ray[i] = ray_of(view_, grid_, row, column);
      packet.lanes[i] = tile.limit[pixel] > 0 ? -1 : 0;
      packet.near[i] = static_cast<float>(1 / (tile.limit[pixel] * grid_.length[static_cast<size_t>(row)]));
      packet.far[i] = static_cast<float>(
          tile.id[pixel] == RasterTile::kNothing ? far : tile.distance[pixel] * (1 + kBeyond));
    }
  for (size_t i = packet.count; i < kPacketSize; ++i) packet.ray[i] = packet.ray[0];
  return packet;
}

void TracedBodies::cast(const PlacedBody& body, Packet& packet, RasterTile& tile) const {
  RayPacket rays;
  for (int i = 0; i < kPacketSize; ++i) {
    const auto k = static_cast<size_t>(i);
    const Vec3 d = body.body_from_view(packet.ray[k]);
    rays.set_ray(i, static_cast<float>(body.eye.x), static_cast<float>(body.eye.y),
                 static_cast<float>(body.eye.z), static_cast<float>(d.x), static_cast<float>(d.y),
                 static_cast<float>(d.z), packet.near[k], packet.far[k]);
  }
  const RayBody& from = *body.group->body;
  from.seen->intersect(rays, packet.lanes);
  for (size_t i = 0; i < packet.count; ++i) {
    if (packet.lanes[i] == 0 || rays.triangle[i] == RayPacket::kNothing) continue;
    const uint32_t triangle = from.traced[rays.triangle[i]];
    const double distance =
        exact_distance(body, from.triangles[triangle], packet.ray[i], static_cast<double>(rays.far[i]));
    const size_t pixel = packet.pixel[i];
    if (tile.id[pixel] != RasterTile::kNothing && distance >= tile.distance[pixel]) continue;
    tile.distance[pixel] = distance;
    tile.id[pixel] = triangle_id(static_cast<size_t>(&body - bodies_.data()), triangle);
    packet.far[i] = static_cast<float>(distance * (1 + kBeyond));
  }
}

void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
               std::span<const RayPicture> pictures) {
  if (is_sound(from.T_world_view)) {
    RayView(scene, poses, from, pictures).draw();
    return;
  }
  for (const auto& [view, pixels, wanted] : pictures)  // for a world that has diverged
    std::fill_n(
        pixels,
        pixel_bytes(view->content) * static_cast<size_t>(view->width) * static_cast<size_t>(view->height),
        std::byte{0});
}

}  // namespace mvsim
