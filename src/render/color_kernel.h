// What is done to the colours of many pixels at once. Every instruction set gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "raycast/triangle_raster.h"
#include "scene/scene.h"

namespace mvsim {

// Red, green, blue of the sky in columns [column, column + count) of a row; both are multiples of
// RayGrid::kBlock. `up` is how far up (a, b, slope) goes, whose length is that of (x, y, z).
void sky_colors(const Sky& sky, const GridFunction& up, const RayGrid& grid, int row, size_t column,
                size_t count, float* colors);

// [0, 1] to 0 to 255, rounded; what is beyond is clipped.
void color_bytes(std::span<const float> shares, uint8_t* bytes);

}  // namespace mvsim
