// Finds which points lie in the shade of triangles. Coordinates are those of a picture seen from the sun: u
// across, v up, h towards the sun; metres, double precision. Every instruction set gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/geometry.h"
#include "raycast/triangle_raster.h"

namespace mvsim {

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
