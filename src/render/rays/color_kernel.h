// Computes colours of many pixels at once. Every instruction set gives the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "raycast/triangle_raster.h"
#include "scene/scene.h"

namespace mvsim {

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

}  // namespace mvsim
