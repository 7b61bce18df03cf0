// Occupancy grids as few triangles: equal cells merge into rectangles, faces between occupied cells are left
// out, and the outer faces in a row merge into one.
#include <algorithm>

#include "scene/grid_rectangles.h"
#include "scene/triangles.h"

namespace mvsim {
namespace {

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

}  // namespace

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

}  // namespace mvsim
