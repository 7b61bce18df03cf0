// Points in the shade of triangles, as the sun sees both: u across, v up, h towards the sun; metres, double
// precision. Every instruction set gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/geometry.h"

namespace mvsim {

// u * du + v * dv + rest.
struct SunFunction {
  double du = 0, dv = 0, rest = 0;
};

struct SunTriangle {
  std::array<SunFunction, 3> sides;  // of points on lines to the sun that meet it none is negative
  SunFunction height;                // h where such a line meets it
  Rect extent;                       // of u and v
  double top = 0;                    // its highest h
};

// Of a triangle with these corners (u, v, h); false if the sun sees it as a line.
bool make_sun_triangle(const std::array<Vec3, 3>& corners, SunTriangle& out);

struct SunPoints {
  static constexpr size_t kMost = 64;

  size_t count = 0;
  alignas(64) std::array<double, kMost> u{}, v{}, h{};
  alignas(64) std::array<uint64_t, kMost> blocked{};  // not 0: something is between it and the sun
  Rect extent;                                        // of u and v of those up to `count`
  double lowest = 0;                                  // h
};

// Marks points that the triangles block.
void block_points(std::span<const SunTriangle> triangles, SunPoints& points);

}  // namespace mvsim
