#include "task/plan/planning_grid.h"

#include <algorithm>
#include <cmath>

#include "sim/simulation.h"

namespace mvsim {
namespace {

// Decides whole blocks of cells at once by the distance at their centre, where possible. The distance changes
// by at most the way that one moves.
struct FreeCells {
  PlanningGrid& g;
  const Simulation& simulation;
  int agent;
  double inflation;

  void find(int x0, int y0, int x1, int y1) {
    constexpr double kSlack = 1e-6;  // m, beyond any rounding
    const int columns = x1 - x0, rows = y1 - y0;
    if (columns == 1 && rows == 1) {
      const int cell = y0 * g.width + x0;
      g.free[cell] = distance_to_obstacles(simulation, g.center(cell), inflation, agent) >= inflation;
      return;
    }
    const Vec2 center{g.origin.x + (g.first_column + 0.5 * (x0 + x1)) * g.cell,
                      g.origin.y + (g.first_row + 0.5 * (y0 + y1)) * g.cell};
    const double half = 0.5 * g.cell * norm(Vec2{columns - 1.0, rows - 1.0}) + kSlack;
    const double distance = distance_to_obstacles(simulation, center, inflation + half, agent);
    if (distance < inflation - half) return;
    if (distance >= inflation + half) {
      for (int y = y0; y < y1; ++y)
        std::fill_n(g.free.data() + (static_cast<size_t>(y) * g.width + x0), columns, uint8_t{1});
    } else if (columns >= rows) {
      find(x0, y0, x0 + columns / 2, y1);
      find(x0 + columns / 2, y0, x1, y1);
    } else {
      find(x0, y0, x1, y0 + rows / 2);
      find(x0, y0 + rows / 2, x1, y1);
    }
  }
};

double cells_along(double length, double cell) {
  return std::max(1.0, std::ceil(length / cell - 1e-9));
}

}  // namespace

bool PlanningGrid::inside(Vec2 p) const {
  const Vec2 low{origin.x + first_column * cell, origin.y + first_row * cell};
  return p.x >= low.x && p.y >= low.y && p.x < low.x + width * cell && p.y < low.y + height * cell;
}

int PlanningGrid::cell_of(Vec2 p) const {
  const auto index = [&](double offset, int first, int count) {
    return static_cast<int>(std::clamp(std::floor(offset / cell) - first, 0.0, count - 1.0));
  };
  return index(p.y - origin.y, first_row, height) * width + index(p.x - origin.x, first_column, width);
}

// The work of a search grows with the number of cells times the longer side, since each cell checks a line of
// sight.
double planning_cell_of(const Rect& r, double cell) {
  constexpr double kMaxCells = 1 << 18, kMaxSide = 1 << 10;
  const auto fits = [&](double side) {
    const double width = cells_along(r.x_max - r.x_min, side), height = cells_along(r.y_max - r.y_min, side);
    return width * height <= kMaxCells && width * height * std::max(width, height) <= kMaxCells * kMaxSide;
  };
  constexpr int kMaxSteps = 2000;  // ends also for bounds that are not finite
  for (int i = 0; i < kMaxSteps && !fits(cell); ++i) cell *= 1.05;
  return cell;
}

PlanningGrid empty_planning_grid(const Rect& r, double cell) {
  PlanningGrid g;
  g.origin = {r.x_min, r.y_min};
  g.cell = planning_cell_of(r, cell);
  g.width = static_cast<int>(cells_along(r.x_max - r.x_min, g.cell));
  g.height = static_cast<int>(cells_along(r.y_max - r.y_min, g.cell));
  g.free.resize(static_cast<size_t>(g.width) * g.height);
  return g;
}

PlanningGrid window_of(const PlanningGrid& whole, const Rect& window) {
  PlanningGrid g;
  g.origin = whole.origin;
  g.cell = whole.cell;
  const int low = whole.cell_of({window.x_min, window.y_min});
  const int high = whole.cell_of({window.x_max, window.y_max});
  g.first_column = whole.first_column + low % whole.width;
  g.first_row = whole.first_row + low / whole.width;
  g.width = high % whole.width - low % whole.width + 1;
  g.height = high / whole.width - low / whole.width + 1;
  g.free.resize(static_cast<size_t>(g.width) * g.height);
  return g;
}

void find_free_cells(PlanningGrid& g, const Simulation& simulation, size_t agent, double inflation,
                     const Poll& poll) {
  constexpr int kBlock = 16;          // cells
  constexpr size_t kPollEvery = 256;  // cells
  FreeCells cells{g, simulation, static_cast<int>(agent), inflation};
  for (int y = 0; y < g.height; y += kBlock)
    for (int x = 0; x < g.width; x += kBlock) {
      if (poll) poll();
      cells.find(x, y, std::min(x + kBlock, g.width), std::min(y + kBlock, g.height));
    }
  for (size_t i = 0; i < g.free.size(); ++i) {
    if (poll && i % kPollEvery == 0) poll();
    if (g.free[i]) g.free[i] = is_known_ground(simulation.model(), g.center(static_cast<int>(i)));
  }
}

PlanningGrid make_planning_grid(const Simulation& simulation, size_t agent, double cell, double inflation,
                                const Poll& poll) {
  PlanningGrid g = empty_planning_grid(simulation.model().bounds, cell);
  find_free_cells(g, simulation, agent, inflation, poll);
  return g;
}

}  // namespace mvsim
