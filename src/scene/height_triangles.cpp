// Hills as triangles, the same two a cell that wheels roll on; a shade of the colour tells low ground from
// high.
#include <algorithm>
#include <tuple>

#include "scene/triangles.h"

namespace mvsim {
namespace {

constexpr double kLowShade = 0.72, kHighShade = 1.08;  // of the colour

}  // namespace

void MeshBuilder::add(const HeightField& field, int max_nodes) {
  const int largest = std::max(field.rows, field.columns);
  const int stride = max_nodes > 0 ? (largest + max_nodes - 1) / max_nodes : 1;
  if (field.rows < 2 || field.columns < 2) return;
  const int rows = (field.rows - 1) / stride + 1, columns = (field.columns - 1) / stride + 1;
  if (rows < 2 || columns < 2) return;
  const double step_x = stride * field.step_x, step_y = stride * field.step_y;
  const auto height = [&](int row, int column) -> double {
    const auto r = static_cast<size_t>(std::clamp(row, 0, rows - 1) * stride);
    const auto c = static_cast<size_t>(std::clamp(column, 0, columns - 1) * stride);
    return field.heights[r * static_cast<size_t>(field.columns) + c];
  };
  const auto color = [&](int row, int column) {
    return (*field.colors)[static_cast<size_t>(row * stride) * static_cast<size_t>(field.columns) +
                           static_cast<size_t>(column * stride)];
  };
  double low = height(0, 0), high = low;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      low = std::min(low, height(row, column));
      high = std::max(high, height(row, column));
    }
  const double range = std::max(1e-3, high - low);
  const auto first = static_cast<uint32_t>(mesh_.positions.size());
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double z = height(row, column);
      const double along_x = (height(row + 1, column) - height(row - 1, column)) / (2 * step_x);
      const double along_y = (height(row, column + 1) - height(row, column - 1)) / (2 * step_y);
      // what is seen through is no ground but lies on it
      const double shade = color_.a < 255 ? 1 : kLowShade + (kHighShade - kLowShade) * (z - low) / range;
      vertex({field.corner.x + row * step_x, field.corner.y + column * step_y, z},
             normalized({-along_x, -along_y, 1}), field.colors ? color(row, column) : shaded(color_, shade));
      if (!(field.tile.x > 0)) continue;
      double u = column * step_y / field.tile.y, v = row * step_x / field.tile.x;
      for (int turn = 0; turn < field.tile_turns; ++turn) std::tie(u, v) = std::pair(-v, u);
      texture_at(u, v);
    }
  for (int row = 0; row + 1 < rows; ++row)
    for (int column = 0; column + 1 < columns; ++column) {
      const uint32_t z00 = first + static_cast<uint32_t>(row * columns + column), z01 = z00 + 1;
      const uint32_t z10 = z00 + static_cast<uint32_t>(columns), z11 = z10 + 1;
      indices({z00, z10, z11, z00, z11, z01});
    }
}

}  // namespace mvsim
