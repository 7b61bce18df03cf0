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

// The rays of a view: that of column c and row r is length[r] * (a[c], b[c], slope[r]).
struct RayGrid {
  static constexpr int kBlock = 8;  // columns that are looked at together, at most

  int width = 0, height = 0;
  std::vector<double> a, b;           // by column, as many as tile_stride(width)
  std::vector<double> slope, length;  // by row; lengths are positive
};

// a * a[c] + b * b[c] + slope * slope[r] over a RayGrid.
struct GridFunction {
  double a = 0, b = 0, slope = 0;
};

struct RasterTriangle {
  std::array<GridFunction, 3> sides;  // of rays that meet it none is negative
  GridFunction nearness;              // 1 / its distance, in lengths of (a, b, slope)
  PixelRect rect;                     // holds all pixels whose rays meet it
  uint64_t id = 0;
};

// A part of a view, row by row; of a row each entry up to `stride` may be written.
struct RasterTile {
  static constexpr size_t kPixels = 2048;  // at most, with what fills up the rows
  static constexpr uint64_t kNothing = ~uint64_t{0};
  static constexpr double kAtLimit = 1e-12;  // of a distance: what is that close to a limit is seen

  PixelRect rect;  // left is a multiple of RayGrid::kBlock
  size_t stride = 0;
  std::vector<double> nearness,
      limit;                     // of the first triangle, as GridFunction counts it; of what may be seen
  std::vector<uint64_t> id;      // of the first triangle
  std::vector<double> distance;  // to it, in lengths of the ray; 0: none
};

// So many columns and what fills them up.
inline size_t tile_stride(int width) {
  return (static_cast<size_t>(width) + RayGrid::kBlock - 1) / RayGrid::kBlock * RayGrid::kBlock;
}

// Makes the tile that of this part of the view, in which nothing is seen yet. Distances count from `near` to
// `far`, in lengths of the rays.
void clear_tile(const RayGrid& grid, const PixelRect& rect, double near, double far, RasterTile& tile);

// Keeps for each pixel the nearest triangle; of those equally near the first.
void draw_triangles(std::span<const RasterTriangle> triangles, const RayGrid& grid, RasterTile& tile);

// Sets tile.distance.
void set_distances(const RayGrid& grid, RasterTile& tile);

// Those up to `far`; 0 in place of others.
void copy_distances(std::span<const double> distances, double far, float* out);

}  // namespace mvsim
