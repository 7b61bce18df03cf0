#include "scene/grid_triangles.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "scene/triangles.h"

namespace mvsim {

DrawnCells::DrawnCells(const GridField& grid, int merged)
    : width((grid.width() + merged - 1) / merged),
      height((grid.height() + merged - 1) / merged),
      resolution(merged * grid.resolution()),
      cells(static_cast<size_t>(width) * static_cast<size_t>(height), Cell::kUnknown) {
  std::vector<Cell> fine(static_cast<size_t>(grid.width()));
  for (int y = 0; y < grid.height(); ++y) {
    Cell* const row = cells.data() + static_cast<size_t>(y / merged) * static_cast<size_t>(width);
    if (merged == 1) {
      grid.copy_row(y, row);
      continue;
    }
    grid.copy_row(y, fine.data());
    for (int x = 0; x < grid.width(); ++x) {
      Cell& drawn = row[x / merged];
      const Cell cell = fine[static_cast<size_t>(x)];
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

namespace {

// Counts the vertices between two rows of cells at which a border ends or turns. At the others a straight
// line through the vertex separates equal cells from equal cells, or all four cells are equal.
size_t corners_between(const Cell* below, const Cell* above, size_t width) {
  constexpr size_t kBlock = 8;  // cells, compared in one instruction
  size_t count = 0;
  Cell a = Cell::kUnknown, b = Cell::kUnknown;  // to the left, below and above
  for (size_t x = 0; x <= width; ++x) {
    if (a == b) {  // there are no corners as long as the two rows are equal
      const size_t first = x;
      while (x + kBlock <= width && std::memcmp(below + x, above + x, kBlock) == 0) x += kBlock;
      if (x > first) a = b = below[x - 1];
    }
    const Cell c = x < width ? below[x] : Cell::kUnknown, d = x < width ? above[x] : Cell::kUnknown;
    const bool is_even = (a == b && c == d) || (a == c && b == d);
    count += is_even ? 0 : 1;
    a = c, b = d;
  }
  return count;
}

// As count_corners(DrawnCells(grid, 1)), without the copy.
size_t count_corners(const GridField& grid) {
  const auto width = static_cast<size_t>(grid.width());
  std::vector<Cell> below(width, Cell::kUnknown), above(width);
  size_t count = 0;
  for (int y = 0; y < grid.height(); ++y) {
    grid.copy_row(y, above.data());
    count += corners_between(below.data(), above.data(), width);
    below.swap(above);
  }
  std::ranges::fill(above, Cell::kUnknown);
  return count + corners_between(below.data(), above.data(), width);
}

// Occupancy grids as few triangles: equal cells merge into rectangles, faces between occupied cells are left
// out, and the outer faces in a row merge into one.

// Rectangles overlap their neighbours by this part of a cell: edges that meet in a T would leave pinholes.
constexpr double kOverlap = 0.002;
constexpr double kUnknownLift = 0.001;  // m above the free floor

bool occupied(const DrawnCells& grid, int x, int y) {
  return grid.cell(x, y) == Cell::kOccupied;
}

// Calls emit(line, from, to) for each longest run of cells on `line` (a row or a column) that are occupied
// while their neighbour across the face is not.
template <typename IsFace, typename Emit>
void for_each_run(int lines, int length, IsFace is_face, Emit emit) {
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < length; ++i) {
      if (!is_face(line, i)) continue;
      const int from = i;
      while (i < length && is_face(line, i)) ++i;
      emit(line, from, i);
    }
}

// Calls emit(a, b) for each outer face of the occupied cells, in cells: outside is on the right of a-b.
template <typename Emit>
void for_each_face(const DrawnCells& grid, Emit emit) {
  const auto face = [&](int ax, int ay, int bx, int by) {
    emit(Vec2{double(ax), double(ay)}, Vec2{double(bx), double(by)});
  };
  for (const int side : {-1, 1}) {
    for_each_run(
        grid.height, grid.width,
        [&](int y, int x) { return occupied(grid, x, y) && !occupied(grid, x, y + side); },
        [&](int y, int from, int to) { side < 0 ? face(from, y, to, y) : face(to, y + 1, from, y + 1); });
    for_each_run(
        grid.width, grid.height,
        [&](int x, int y) { return occupied(grid, x, y) && !occupied(grid, x + side, y); },
        [&](int x, int from, int to) { side < 0 ? face(x, to, x, from) : face(x + 1, from, x + 1, to); });
  }
}

// Hills as triangles, the same two a cell that wheels roll on; a shade of the colour tells low ground from
// high.

constexpr double kLowShade = 0.72, kHighShade = 1.08;  // of the colour

}  // namespace

size_t count_corners(const DrawnCells& grid) {
  const auto width = static_cast<size_t>(grid.width);
  const std::vector<Cell> unknown(width, Cell::kUnknown);
  size_t count = 0;
  for (int y = 0; y <= grid.height; ++y) {
    const Cell* const above = grid.cells.data() + static_cast<size_t>(y) * width;
    count += corners_between(y > 0 ? above - width : unknown.data(), y < grid.height ? above : unknown.data(),
                             width);
  }
  return count;
}

MergedGrids merged_to_fit(const std::vector<const GridField*>& grids, size_t most_corners) {
  MergedGrids out{std::vector<int>(grids.size(), 1)};
  std::vector<size_t> corners;
  for (const GridField* grid : grids) out.corners += corners.emplace_back(count_corners(*grid));
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

void MeshBuilder::add(const GridCells& grid) {
  const DrawnCells field(*grid.field, grid.merged);
  const double r = field.resolution, e = kOverlap * r;
  const auto rectangle = [&](const CellRectangle& c, double z) {
    const double xa = c.x0 * r - e, ya = c.y0 * r - e, xb = c.x1 * r + e, yb = c.y1 * r + e;
    quad({xa, ya, z}, {xb, ya, z}, {xb, yb, z}, {xa, yb, z}, {0, 0, 1}, color_);
  };
  switch (grid.part) {
    case GridCells::kFreeFloor:
      rectangle({0, 0, field.width, field.height}, 0);
      return;
    case GridCells::kUnknownFloor:
      for (const CellRectangle& c : cover_cells(field, Cell::kUnknown)) rectangle(c, kUnknownLift);
      return;
    case GridCells::kWalls:
      break;
  }
  const double h = grid.wall_height;
  for (const CellRectangle& c : cover_cells(field, Cell::kOccupied)) rectangle(c, h);
  for_each_face(field, [&](Vec2 a, Vec2 b) {
    wall({a.x * r, a.y * r, 0}, {b.x * r, b.y * r, 0}, {b.x * r, b.y * r, h}, {a.x * r, a.y * r, h},
         normalized({b.y - a.y, a.x - b.x, 0}));
  });
}

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
