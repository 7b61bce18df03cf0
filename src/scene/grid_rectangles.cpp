#include "scene/grid_rectangles.h"

#include <algorithm>

namespace mvsim {

DrawnCells::DrawnCells(const GridField& grid, int merged)
    : width((grid.width() + merged - 1) / merged),
      height((grid.height() + merged - 1) / merged),
      resolution(merged * grid.resolution()),
      cells(static_cast<size_t>(width) * static_cast<size_t>(height), Cell::kUnknown) {
  for (int y = 0; y < grid.height(); ++y) {
    Cell* const row = cells.data() + static_cast<size_t>(y / merged) * static_cast<size_t>(width);
    for (int x = 0; x < grid.width(); ++x) {
      Cell& drawn = row[x / merged];
      const Cell cell = grid.cell(x, y);
      if (cell == Cell::kOccupied || drawn == Cell::kUnknown) drawn = cell;
    }
  }
}

// Each grows right, then up.
std::vector<CellRectangle> cover_cells(const DrawnCells& grid, Cell kind) {
  std::vector<CellRectangle> out;
  const int width = grid.width, height = grid.height;
  std::vector<uint8_t> left(grid.cells.size());
  std::ranges::transform(grid.cells, left.begin(),
                         [&](Cell cell) { return static_cast<uint8_t>(cell == kind); });
  const auto at = [&](int x, int y) { return static_cast<size_t>(y) * width + x; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (!left[at(x, y)]) continue;
      int x1 = x, y1 = y + 1;
      while (x1 < width && left[at(x1, y)]) ++x1;
      const auto row_full = [&](int row) {
        return std::all_of(left.begin() + at(x, row), left.begin() + at(x1, row),
                           [](uint8_t v) { return v != 0; });
      };
      while (y1 < height && row_full(y1)) ++y1;
      for (int row = y; row < y1; ++row) std::fill(left.begin() + at(x, row), left.begin() + at(x1, row), 0);
      out.push_back({x, y, x1, y1});
    }
  return out;
}

// Counts the vertices of the grid at which a border ends or turns. At the others a straight line through the
// vertex separates equal cells from equal cells, or all four cells are equal.
size_t count_corners(const DrawnCells& grid) {
  size_t count = 0;
  const auto width = static_cast<size_t>(grid.width);
  std::vector<Cell> unknown(width, Cell::kUnknown);
  for (int y = 0; y <= grid.height; ++y) {
    const Cell* const below = y > 0 ? grid.cells.data() + static_cast<size_t>(y - 1) * width : unknown.data();
    const Cell* const above =
        y < grid.height ? grid.cells.data() + static_cast<size_t>(y) * width : unknown.data();
    Cell a = Cell::kUnknown, b = Cell::kUnknown;  // to the left, below and above
    for (size_t x = 0; x <= width; ++x) {
      const Cell c = x < width ? below[x] : Cell::kUnknown, d = x < width ? above[x] : Cell::kUnknown;
      const bool is_even = (a == b && c == d) || (a == c && b == d);
      count += is_even ? 0 : 1;
      a = c, b = d;
    }
  }
  return count;
}

MergedGrids merged_to_fit(const std::vector<const GridField*>& grids, size_t most_corners) {
  MergedGrids out{std::vector<int>(grids.size(), 1)};
  std::vector<size_t> corners;
  for (const GridField* grid : grids)
    out.corners += corners.emplace_back(count_corners(DrawnCells(*grid, 1)));
  while (out.corners > most_corners) {
    const auto most = static_cast<size_t>(std::ranges::max_element(corners) - corners.begin());
    if (corners[most] <= 4) break;  // each is a single cell
    out.merged[most] *= 2;
    const size_t now = count_corners(DrawnCells(*grids[most], out.merged[most]));
    out.corners = out.corners - corners[most] + now;
    corners[most] = now;
  }
  return out;
}

}  // namespace mvsim
