// Occupancy grids as few triangles: equal cells merge into rectangles, faces between occupied cells are left
// out, and the outer faces in a row merge into one.
#include <algorithm>

#include "render/mesh.h"

namespace mvsim {
namespace {

// Rectangles overlap their neighbours by this part of a cell: edges that meet in a T would leave pinholes.
constexpr double kOverlap = 0.002;
constexpr double kUnknownLift = 0.001;  // m above the free floor

struct CellRectangle {
  int x0, y0, x1, y1;
};

// Disjoint rectangles that cover the cells of one kind: each grows right, then up.
std::vector<CellRectangle> cover(const GridCells& grid, uint8_t kind) {
  std::vector<CellRectangle> out;
  std::vector<uint8_t> left(grid.cells.size());
  const auto at = [&](int x, int y) { return static_cast<size_t>(y) * grid.width + x; };
  for (size_t i = 0; i < left.size(); ++i) left[i] = grid.cells[i] == kind;
  for (int y = 0; y < grid.height; ++y)
    for (int x = 0; x < grid.width; ++x) {
      if (!left[at(x, y)]) continue;
      int x1 = x, y1 = y + 1;
      while (x1 < grid.width && left[at(x1, y)]) ++x1;
      const auto row_full = [&](int row) {
        return std::all_of(left.begin() + at(x, row), left.begin() + at(x1, row),
                           [](uint8_t v) { return v != 0; });
      };
      while (y1 < grid.height && row_full(y1)) ++y1;
      for (int row = y; row < y1; ++row) std::fill(left.begin() + at(x, row), left.begin() + at(x1, row), 0);
      out.push_back({x, y, x1, y1});
    }
  return out;
}

bool occupied(const GridCells& grid, int x, int y) {
  return x >= 0 && y >= 0 && x < grid.width && y < grid.height &&
         grid.cells[static_cast<size_t>(y) * grid.width + x] == kOccupiedCell;
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

}  // namespace

void MeshBuilder::grid_rectangle(const GridCells& grid, const Frame3& frame, int x0, int y0, int x1, int y1,
                                 double z, const Look& look) {
  const double r = grid.resolution, e = kOverlap * r;
  const double xa = x0 * r - e, ya = y0 * r - e, xb = x1 * r + e, yb = y1 * r + e;
  quad(frame.transform({xa, ya, z}), frame.transform({xb, ya, z}), frame.transform({xb, yb, z}),
       frame.transform({xa, yb, z}), frame.z, look);
}

void MeshBuilder::add_walls(const GridCells& grid, const Frame3& frame) {
  const Look look{grid.wall_color};
  const double r = grid.resolution, h = grid.wall_height;
  const auto face = [&](double ax, double ay, double bx, double by) {
    const Vec3 normal = frame.rotate(normalized({by - ay, ax - bx, 0}));
    wall(frame.transform({ax * r, ay * r, 0}), frame.transform({bx * r, by * r, 0}),
         frame.transform({bx * r, by * r, h}), frame.transform({ax * r, ay * r, h}), normal, look);
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

void MeshBuilder::add(const GridCells& grid) {
  const Pose2& t = grid.T_world_grid;
  const Frame3 frame({t.x, t.y, grid.z, t.yaw, 0, 0});
  grid_rectangle(grid, frame, 0, 0, grid.width, grid.height, 0, Look{grid.free_color, false});
  for (const CellRectangle& c : cover(grid, kUnknownCell))
    grid_rectangle(grid, frame, c.x0, c.y0, c.x1, c.y1, kUnknownLift, Look{grid.unknown_color, false});
  for (const CellRectangle& c : cover(grid, kOccupiedCell))
    grid_rectangle(grid, frame, c.x0, c.y0, c.x1, c.y1, grid.wall_height, Look{grid.wall_color});
  add_walls(grid, frame);
}

}  // namespace mvsim
