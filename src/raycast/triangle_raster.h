// Rasterises triangles against all rays of a view at once, in double precision, and finds the first one on
// each ray. For few triangles and many rays this is faster than a tree. Every instruction set gives the same
// bits, and a ray through an edge that two triangles share meets one of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mvsim {

// Pixels [left, right) x [top, bottom).
struct PixelRect {
  int left = 0, right = 0, top = 0, bottom = 0;

  bool empty() const { return left >= right || top >= bottom; }
  bool meets(const PixelRect& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// The rays of a view. The ray of column c and row r is length[r] * (a[c], b[c], slope[r]).
struct RayGrid {
  static constexpr int kBlock = 8;  // largest number of columns that a vector loop processes at once

  int width = 0, height = 0;
  std::vector<double> a, b;           // by column, as many as tile_stride(width)
  std::vector<double> slope, length;  // by row; lengths are positive
};

// A linear function of the rays of a RayGrid: a * a[c] + b * b[c] + slope * slope[r].
struct GridFunction {
  double a = 0, b = 0, slope = 0;
};

struct RasterTriangle {
  std::array<GridFunction, 3> sides;  // none is negative for a ray that meets the triangle
  GridFunction nearness;              // 1 / distance, in lengths of (a, b, slope)
  PixelRect rect;                     // contains all pixels whose rays meet it
  uint64_t id = 0;
};

// A part of a view, row by row. Each row has `stride` entries, all of which may be written.
struct RasterTile {
  static constexpr size_t kPixels = 2048;  // largest number of entries, with the padding of the rows
  static constexpr uint64_t kNothing = ~uint64_t{0};
  // Share of a distance. A triangle that is so little beyond a limit is seen.
  static constexpr double kAtLimit = 1e-12;

  PixelRect rect;  // left is a multiple of RayGrid::kBlock
  size_t stride = 0;
  std::vector<double> nearness,
      limit;                     // of the first triangle, as GridFunction counts it; of what may be seen
  std::vector<uint64_t> id;      // of the first triangle
  std::vector<double> distance;  // to it, in lengths of the ray; 0: none
};

// Returns the number of columns with padding.
inline size_t tile_stride(int width) {
  return (static_cast<size_t>(width) + RayGrid::kBlock - 1) / RayGrid::kBlock * RayGrid::kBlock;
}

// Sets the tile to this part of the view, with no triangle in it. Triangles are seen at distances from `near`
// to `far`, in lengths of the rays.
void clear_tile(const RayGrid& grid, const PixelRect& rect, double near, double far, RasterTile& tile);

// Draws triangles into the tile. Each pixel keeps the nearest one, and the first of several equally near
// ones.
void draw_triangles(std::span<const RasterTriangle> triangles, const RayGrid& grid, RasterTile& tile);

// Computes tile.distance from tile.nearness.
void set_distances(const RayGrid& grid, RasterTile& tile);

// Writes distances to `out`; those beyond `far` become 0.
void copy_distances(std::span<const double> distances, double far, float* out);

}  // namespace mvsim
