// Rasterisation of triangles: the first triangle on each ray, and shadows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// Rasterises triangles against all rays of a view at once, in double precision, and finds the first one on
// each ray. For few triangles and many rays this is faster than a tree. Every instruction set gives the same
// bits, and a ray through an edge that two triangles share meets one of them.

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
  std::vector<double> slope, length;  // by row; slopes grow, lengths are positive
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

// Finds which points lie in the shade of triangles. Coordinates are those of a picture seen from the sun: u
// across, v up, h towards the sun; metres, double precision. Every instruction set gives the same bits.

// u * du + v * dv + rest.
struct SunFunction {
  double du = 0, dv = 0, rest = 0;
};

struct SunTriangle {
  std::array<SunFunction, 3> sides;  // none is negative for a point whose line to the sun meets it
  SunFunction height;                // h where such a line meets it
  Rect extent;                       // of u and v
  double top = 0;                    // its highest h
};

// Fills `out` for the triangle with these corners (u, v, h). Returns false if the sun sees it as a line.
bool make_sun_triangle(const std::array<Vec3, 3>& corners, SunTriangle& out);

// A group of points that are tested together.
struct SunPoints {
  static constexpr size_t kMost = 64;

  size_t count = 0;
  alignas(64) std::array<double, kMost> u{}, v{}, h{};
  alignas(64) std::array<uint64_t, kMost> blocked{};  // not 0: something is between it and the sun
  // set by enclose(), of the first `count`:
  Rect extent;        // of u and v
  double lowest = 0;  // h
};

// Where rays of a RayGrid meet a surface.
struct SunRay {
  std::array<GridFunction, 3> axes;  // u, v, h of the rays, before they have their lengths
  Vec3 lift;                         // off the surface, of length 1; u, v, h
  double gap = 0;                    // m above the surface; as much more again every km

  Vec3 point(const RayGrid& grid, int row, int column, double distance) const;
};

// Adds the points at `distances` along the rays of RayGrid::kBlock columns.
void add_block(const SunRay& ray, const RayGrid& grid, int row, int column, const double* distances,
               SunPoints& points);
// Prepares a group of at least one point.
void enclose(SunPoints& points);

// Marks points that the triangles block.
void block_points(std::span<const SunTriangle> triangles, SunPoints& points);

}  // namespace mvsim
