// Rectangles of equal cells of an occupancy grid. A pure function, any thread.
#pragma once

#include <vector>

#include "raycast/grid_field.h"

namespace mvsim {

// Cells [x0, x1) x [y0, y1).
struct CellRectangle {
  int x0, y0, x1, y1;
};

// Disjoint rectangles that cover the cells of one kind.
std::vector<CellRectangle> cover_cells(const GridField& grid, Cell kind);

}  // namespace mvsim
