// Grids as triangles: rectangles of cells, walls, heights of the ground.
#pragma once

#include <vector>

#include "raycast/grid_field.h"

namespace mvsim {

// Occupancy grids as they are drawn: rectangles of equal cells, and coarser cells where a grid has too many
// of them. Pure functions, any thread.

// Cells [x0, x1) x [y0, y1).
struct CellRectangle {
  int x0, y0, x1, y1;
};

// A copy of a grid's cells, row by row. Squares of `merged` x `merged` cells become one: occupied if one of
// them is, else free if one of them is, else unknown.
struct DrawnCells {
  int width = 0, height = 0;
  double resolution = 0;  // m
  std::vector<Cell> cells;

  DrawnCells(const GridField& grid, int merged);
  Cell cell(int x, int y) const {  // beyond the border: unknown
    const bool is_inside = x >= 0 && y >= 0 && x < width && y < height;
    return is_inside ? cells[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)]
                     : Cell::kUnknown;
  }
};

// Disjoint rectangles that cover the cells of one kind.
std::vector<CellRectangle> cover_cells(const DrawnCells& grid, Cell kind);

// Counts the corners of regions of equal cells. A grid with n corners is drawn as at most 1.5 n
// quadrilaterals.
size_t count_corners(const DrawnCells& grid);

// The number of cells along a side that are merged in each of several grids, so that all grids together have
// few enough corners.
struct MergedGrids {
  std::vector<int> merged;  // by grid
  size_t corners = 0;       // of all, then
};
inline constexpr size_t kMostCorners = 180'000;  // some 500 MB
inline constexpr double kBytesPerCorner = 2800;  // of a checkerboard: triangles, and the trees for rays
MergedGrids merged_to_fit(const std::vector<const GridField*>& grids, size_t most_corners = kMostCorners);

}  // namespace mvsim
