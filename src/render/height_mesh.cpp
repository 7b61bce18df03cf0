// Hills as triangles, the same two a cell that wheels roll on; a shade of the colour tells low ground from
// high.
#include <algorithm>
#include <cmath>

#include "render/mesh.h"

namespace mvsim {
namespace {

constexpr double kLowShade = 0.72, kHighShade = 1.08;  // of the colour

Color shaded(Color c, double factor) {
  const auto part = [factor](uint8_t v) {
    return static_cast<uint8_t>(std::lround(std::min(255.0, v * factor)));
  };
  return {part(c.r), part(c.g), part(c.b), c.a};
}

}  // namespace

void MeshBuilder::add(const HeightField& field) {
  const int rows = field.rows, columns = field.columns;
  if (rows < 2 || columns < 2) return;
  const auto height = [&](int row, int column) {
    const size_t r = static_cast<size_t>(std::clamp(row, 0, rows - 1));
    return field
        .heights[r * static_cast<size_t>(columns) + static_cast<size_t>(std::clamp(column, 0, columns - 1))];
  };
  const auto [low, high] = std::minmax_element(field.heights.begin(), field.heights.end());
  const double range = std::max(1e-3, *high - *low);
  const bool blends = field.color.a < 255;
  const auto first = static_cast<uint32_t>(mesh_.vertices.size());
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double z = height(row, column);
      const double along_x = (height(row + 1, column) - height(row - 1, column)) / (2 * field.step_x);
      const double along_y = (height(row, column + 1) - height(row, column - 1)) / (2 * field.step_y);
      const double shade = blends ? 1 : kLowShade + (kHighShade - kLowShade) * (z - *low) / range;
      vertex({field.corner.x + row * field.step_x, field.corner.y + column * field.step_y, z},
             normalized({-along_x, -along_y, 1}), shaded(field.color, shade));
    }
  auto& out = list(Look{field.color, false});
  for (int row = 0; row + 1 < rows; ++row)
    for (int column = 0; column + 1 < columns; ++column) {
      const uint32_t z00 = first + static_cast<uint32_t>(row * columns + column), z01 = z00 + 1;
      const uint32_t z10 = z00 + static_cast<uint32_t>(columns), z11 = z10 + 1;
      out.insert(out.end(), {z00, z10, z11, z00, z11, z01});
    }
}

}  // namespace mvsim
