// Shading of tiles of pixels, and the kernel of their colours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "raycast/triangle_raster.h"
#include "render/rays/sun_shadow.h"
#include "render/rays/view_triangles.h"
#include "scene/scene.h"

namespace mvsim {

// Computes colours of many pixels at once. Every instruction set gives the same bits.

// Writes red, green, blue of the sky in columns [column, column + count) of a row; both are multiples of
// RayGrid::kBlock. `up` is the height of the direction (a, b, slope), which has the length of (x, y, z).
void sky_colors(const Sky& sky, const GridFunction& up, const RayGrid& grid, int row, size_t column,
                size_t count, float* colors);

// A surface whose squared colours change linearly, in one light.
struct EvenSurface {
  std::array<GridFunction, 3> base;  // squared colours: base times the distance, plus `rest`
  std::array<double, 3> rest{};

  std::array<float, 3> color(const RayGrid& grid, int row, int column, double distance,
                             const std::array<float, 3>& light) const;
};

// Writes the colours of the surface at `distances` along the rays of RayGrid::kBlock columns.
void even_colors(const EvenSurface& surface, const std::array<float, 3>& light, const RayGrid& grid, int row,
                 int column, const double* distances, float* colors);

// Converts [0, 1] to 0 to 255, rounded; other values are clipped.
void color_bytes(std::span<const float> shares, uint8_t* bytes);

// The colours of a tile of a view: shading, textures, shadows, the sky.

// Shades the tiles of one view. One thread; the arguments outlive it.
class TileShading {
 public:
  TileShading(const RayScene& scene, const View& view, const ViewPoint& from,
              std::span<const PlacedBody> bodies, const RayGrid& grid);

  // Begins with the first surfaces of the tile.
  void begin(const RasterTile& tile);
  // Adds the surfaces of the tile. Returns whether some are transparent: the tile is then cleared, and
  // limited to surfaces behind these pixels. `is_last`: all surfaces count as opaque.
  bool add_layer(RasterTile& tile, bool is_last);
  // Returns red, green, blue of each pixel of the tile.
  const float* colors() const { return colors_.data(); }

 private:
  // Common data of the pixels of a triangle.
  struct Surface {
    const PlacedBody* body;
    const RayTriangle* triangle;
    double side;     // -1: seen from behind
    Vec3 lift;       // of length 1, away from the triangle, in the sun's frame
    bool is_sunlit;  // faces the sun; for one that is not flat: may face it
    // For a flat surface:
    Rgb lit{}, unlit{};  // colour; if it is not plain, the light that reaches it
    float alpha = 1;
    EvenSurface even{};
  };

  // A hash table from ids of triangles to indices of surfaces.
  class Table {
   public:
    uint32_t& at(uint64_t id);  // kNone: it is new

   private:
    struct Entry {
      uint64_t id = RasterTile::kNothing;
      uint32_t index = kNone;
    };
    void grow();
    std::vector<Entry> entries_ = std::vector<Entry>(512);
    size_t count_ = 0;
  };
  static constexpr uint32_t kNone = ~0U;

  uint32_t surface_of(uint64_t id);
  void set_light(Surface& surface) const;
  void set_base(Surface& surface) const;
  void find_surfaces(const RasterTile& tile);
  void find_shadows(const RasterTile& tile);
  void collect(const RasterTile& tile, const PixelRect& rect);
  void paint_sky(const RasterTile& tile);
  Rgb sky_at(int row, int column) const;
  void look_behind(RasterTile& tile) const;
  bool is_uniform(const RasterTile& tile, size_t pixel, int column) const;
  void shade_block(const RasterTile& tile, int row, int column, size_t pixel);
  bool shade_pixel(const RasterTile& tile, int row, int column, size_t pixel, bool is_last);
  Rgb color_of(const Surface& surface, const Vec3& view_ray, double distance, bool is_lit,
               float& alpha) const;

  const RayScene& scene_;
  const View& view_;
  std::span<const PlacedBody> bodies_;
  const RayGrid& grid_;
  const Frame3& eye_;
  SunShadow shadow_;
  SunRay to_sun_;
  GridFunction up_;
  double pixel_angle_;  // angle from one pixel to the next, rad

  Table table_;
  std::vector<Surface> surfaces_;
  std::vector<uint32_t> surface_, ahead_;  // by pixel; transparent pixels
  std::vector<SunPoints> groups_;
  std::vector<std::array<uint32_t, SunPoints::kMost>> pixels_;  // pixels of groups_
  std::vector<uint8_t> is_blocked_;                             // by pixel
  std::vector<float> colors_, through_;                         // by pixel
  bool is_first_ = true;
};

}  // namespace mvsim
