#include "render/ray_view.h"

#include <algorithm>
#include <optional>

#include "render/color_kernel.h"
#include "render/tile_shading.h"
#include "render/traced_bodies.h"

namespace mvsim {
namespace {

constexpr int kMaxLayers = 4;  // of what one can see through

bool shows_colors(const View& view) {
  return view.content == ViewContent::kColor || view.content == ViewContent::kIntensity;
}

class RayView {
 public:
  RayView(const RayScene& scene, std::span<const ScenePose> poses, const View& view, const ViewPoint& from)
      : view_(view),
        bodies_(place_bodies(scene, poses, view, from)),
        grid_(ray_grid(view)),
        triangles_(triangles_in_view(bodies_, view, grid_)),
        traced_(bodies_, view, grid_) {
    if (shows_colors(view)) shading_.emplace(scene, view, from, bodies_, grid_);
  }

  void draw(std::byte* pixels) {
    const auto most = static_cast<int>(RasterTile::kPixels);
    const int high = std::min(view_.height, view_.is_pinhole() ? 32 : 64);
    const int wide = most / high / RayGrid::kBlock * RayGrid::kBlock;
    RasterTile tile;
    for (int top = 0; top < view_.height; top += high)
      for (int left = 0; left < view_.width; left += wide) {
        clear_tile(grid_, {left, std::min(left + wide, view_.width), top, std::min(top + high, view_.height)},
                   view_.near, view_.far, tile);
        find_nearest(tile);
        write(tile, pixels);
      }
  }

 private:
  void find_nearest(RasterTile& tile) const {
    draw_triangles(triangles_, grid_, tile);
    set_distances(grid_, tile);
    traced_.merge(tile);
  }

  void write(RasterTile& tile, std::byte* pixels) {
    switch (view_.content) {
      case ViewContent::kDepth:
        for_rows(tile, [&](size_t from, size_t to, size_t count) {
          auto* const out = reinterpret_cast<float*>(pixels) + to;
          for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(tile.distance[from + i]);
        });
        break;
      case ViewContent::kLabels:
        write_labels(tile, reinterpret_cast<uint16_t*>(pixels));
        break;
      case ViewContent::kColor:
        find_colors(tile);
        for_rows(tile, [&](size_t from, size_t to, size_t count) {
          color_bytes({shading_->colors() + 3 * from, 3 * count}, reinterpret_cast<uint8_t*>(pixels) + 3 * to);
        });
        break;
      case ViewContent::kIntensity:
        find_colors(tile);
        for_rows(tile, [&](size_t from, size_t to, size_t count) {
          auto* const out = reinterpret_cast<float*>(pixels) + to;
          const float* c = shading_->colors() + 3 * from;
          for (size_t i = 0; i < count; ++i, c += 3)
            out[i] = std::clamp(0.299F * c[0] + 0.587F * c[1] + 0.114F * c[2], 0.0F, 1.0F);
        });
        break;
    }
  }

  // Calls write(index in the tile, index in the view, number of pixels) for each row of a tile.
  template <typename Write>
  void for_rows(const RasterTile& tile, const Write& write) const {
    for (int row = tile.rect.top; row < tile.rect.bottom; ++row)
      write(static_cast<size_t>(row - tile.rect.top) * tile.stride,
            static_cast<size_t>(row) * static_cast<size_t>(view_.width) + static_cast<size_t>(tile.rect.left),
            static_cast<size_t>(tile.rect.right - tile.rect.left));
  }

  void write_labels(const RasterTile& tile, uint16_t* pixels) const {
    uint64_t last = RasterTile::kNothing;
    uint16_t label = 0;
    for_rows(tile, [&](size_t from, size_t to, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        if (const uint64_t id = tile.id[from + i]; id != last) label = label_of(last = id);
        pixels[to + i] = label;
      }
    });
  }

  uint16_t label_of(uint64_t id) const {
    if (id == RasterTile::kNothing) return 0;
    const PlacedBody& body = body_of(bodies_, id);
    return body.group->parts[triangle_of(body, id).part].label;
  }

  // Layer by layer, from the eye to the first thing that cannot be seen through.
  void find_colors(RasterTile& tile) {
    shading_->begin(tile);
    for (int layer = 1; shading_->add_layer(tile, layer == kMaxLayers); ++layer) find_nearest(tile);
  }

  const View& view_;
  std::vector<PlacedBody> bodies_;
  RayGrid grid_;
  std::vector<RasterTriangle> triangles_;
  TracedBodies traced_;
  std::optional<TileShading> shading_;
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
               const ViewPoint& from, std::byte* pixels) {
  const Frame3& eye = from.T_world_view;
  if (is_finite(eye.origin) && is_finite(eye.x) && is_finite(eye.y) && is_finite(eye.z))
    RayView(scene, poses, view, from).draw(pixels);
  else  // of a world that has diverged
    std::fill_n(
        pixels,
        pixel_bytes(view.content) * static_cast<size_t>(view.width) * static_cast<size_t>(view.height),
        std::byte{0});
}

}  // namespace mvsim
