#include "env/goal_field.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>

#include "env/free_space.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr int32_t kGoal = (1 << 30) - 1, kNone = kGoal - 1, kExtended = 1 << 30;

int32_t plain(int32_t next) {
  return next & ~kExtended;
}

// A cell to be expanded: smallest distance first, then smallest index, so that the order never depends on
// memory or history. Distances are not negative, hence ordered like their bits.
using Queue = std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>>;

uint64_t entry(float distance, int32_t cell) {
  return static_cast<uint64_t>(std::bit_cast<uint32_t>(distance)) << 32 | static_cast<uint32_t>(cell);
}
float distance_of(uint64_t entry) {
  return std::bit_cast<float>(static_cast<uint32_t>(entry >> 32));
}
int32_t cell_of(uint64_t entry) {
  return static_cast<int32_t>(entry & 0xffffffff);
}

struct Neighbor {
  int dx, dy;
};
constexpr Neighbor kNeighbors[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

// Calls visit(cell) for each of the 8 neighbours on the grid; a diagonal only where both cells beside it are
// `open`.
template <typename Open, typename Visit>
void for_neighbors(const PlanningGrid& g, int cell, const Open& open, const Visit& visit) {
  const int x = cell % g.width, y = cell / g.width;
  for (const Neighbor n : kNeighbors) {
    const int nx = x + n.dx, ny = y + n.dy;
    if (nx < 0 || ny < 0 || nx >= g.width || ny >= g.height) continue;
    if (n.dx != 0 && n.dy != 0 && !(open(y * g.width + nx) && open(ny * g.width + x))) continue;
    visit(ny * g.width + nx);
  }
}

// Whether the segment between two cell centres runs through free cells only; passing exactly through a corner
// needs both cells beside it.
bool is_visible(const PlanningGrid& g, int from, int to) {
  int x = from % g.width, y = from / g.width;
  const int x1 = to % g.width, y1 = to / g.width;
  const int nx = std::abs(x1 - x), ny = std::abs(y1 - y);
  const int sx = x1 > x ? 1 : -1, sy = y1 > y ? 1 : -1;
  const auto free = [&](int cx, int cy) { return g.free[static_cast<size_t>(cy) * g.width + cx] != 0; };
  int ix = 0, iy = 0;
  while (ix < nx || iy < ny) {
    const int64_t decision = static_cast<int64_t>(1 + 2 * ix) * ny - static_cast<int64_t>(1 + 2 * iy) * nx;
    if (decision == 0) {
      if (!free(x + sx, y) || !free(x, y + sy)) return false;
      x += sx, y += sy, ++ix, ++iy;
    } else if (decision < 0) {
      x += sx, ++ix;
    } else {
      y += sy, ++iy;
    }
    if (!free(x, y)) return false;
  }
  return true;
}

}  // namespace

bool PlanningGrid::inside(Vec2 p) const {
  return p.x >= origin.x && p.y >= origin.y && p.x < origin.x + width * cell &&
         p.y < origin.y + height * cell;
}

int PlanningGrid::cell_of(Vec2 p) const {
  const auto index = [&](double offset, int count) {
    return static_cast<int>(std::clamp(std::floor(offset / cell), 0.0, count - 1.0));
  };
  return index(p.y - origin.y, height) * width + index(p.x - origin.x, width);
}

PlanningGrid make_planning_grid(const Simulation& simulation, size_t agent, double cell, double inflation) {
  constexpr int kMostCells = 4 << 20;
  const Rect& r = simulation.model().bounds;
  PlanningGrid g;
  g.origin = {r.x_min, r.y_min};
  g.cell = std::max(cell, std::sqrt((r.x_max - r.x_min) * (r.y_max - r.y_min) / kMostCells));
  g.width = std::max(1, static_cast<int>(std::ceil((r.x_max - r.x_min) / g.cell - 1e-9)));
  g.height = std::max(1, static_cast<int>(std::ceil((r.y_max - r.y_min) / g.cell - 1e-9)));
  g.free.resize(static_cast<size_t>(g.width) * g.height);
  for (int i = 0; i < g.width * g.height; ++i) g.free[i] = is_free(simulation, agent, g.center(i), inflation);
  return g;
}

GoalField::GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal)
    : grid_(std::move(grid)), goal_(goal), goal_cell_(grid_->cell_of(goal)) {
  distance_.assign(grid_->free.size(), kFar);
  next_.assign(grid_->free.size(), kNone);
  search();
  extend();
}

void GoalField::search() {
  const PlanningGrid& g = *grid_;
  std::vector<uint8_t> closed(g.free.size(), 0);
  const auto is_open = [&](int cell) { return g.free[cell] != 0; };
  // straight to the next corner; the first corner is the goal's own cell, seen from as its centre
  const auto through = [&](int cell, int32_t corner) {
    const Vec2 c = g.center(cell);
    if (corner == kGoal) return static_cast<float>(norm(c - goal_));
    return distance_[corner] + static_cast<float>(norm(c - g.center(corner)));
  };
  Queue queue;
  if (!g.free[goal_cell_]) return;
  distance_[goal_cell_] = static_cast<float>(norm(g.center(goal_cell_) - goal_));
  next_[goal_cell_] = kGoal;
  queue.push(entry(distance_[goal_cell_], goal_cell_));
  while (!queue.empty()) {
    const float distance = distance_of(queue.top());
    const int32_t cell = cell_of(queue.top());
    queue.pop();
    if (closed[cell] || distance != distance_[cell]) continue;
    // the corner was taken over from a neighbour without looking: look now, else go by the best neighbour
    const int corner = next_[cell] == kGoal ? goal_cell_ : next_[cell];
    if (!is_visible(g, cell, corner)) {
      float best = kFar;
      int32_t best_cell = kNone;
      for_neighbors(g, cell, is_open, [&](int n) {
        if (!closed[n] || !g.free[n]) return;
        const float d = through(cell, n);
        if (d < best || (d == best && n < best_cell)) best = d, best_cell = n;
      });
      next_[cell] = best_cell;
      if (best > distance) {
        distance_[cell] = best;
        queue.push(entry(best, cell));
        continue;
      }
      distance_[cell] = best;
    }
    closed[cell] = 1;
    for_neighbors(g, cell, is_open, [&](int n) {
      if (!g.free[n] || closed[n]) return;
      const float d = through(n, next_[cell]);
      if (d >= distance_[n]) return;
      distance_[n] = d;
      next_[n] = next_[cell];
      queue.push(entry(d, n));
    });
  }
}

// Cells that are not free, or that no path reaches, get the value of the nearest cell that has one.
void GoalField::extend() {
  const PlanningGrid& g = *grid_;
  const auto anywhere = [](int) { return true; };
  Queue queue;
  if (next_[goal_cell_] == kNone) {
    distance_[goal_cell_] = static_cast<float>(norm(g.center(goal_cell_) - goal_));
    next_[goal_cell_] = kGoal | kExtended;
  }
  for (int i = 0; i < static_cast<int>(distance_.size()); ++i) {
    if (next_[i] == kNone) continue;
    bool at_border = false;
    for_neighbors(g, i, anywhere, [&](int n) { at_border = at_border || next_[n] == kNone; });
    if (at_border) queue.push(entry(distance_[i], i));
  }
  while (!queue.empty()) {
    const float distance = distance_of(queue.top());
    const int32_t cell = cell_of(queue.top());
    queue.pop();
    if (distance != distance_[cell]) continue;
    for_neighbors(g, cell, anywhere, [&](int n) {
      if (next_[n] != kNone && !(next_[n] & kExtended)) return;
      const float d = distance + static_cast<float>(norm(g.center(n) - g.center(cell)));
      if (d >= distance_[n]) return;
      distance_[n] = d;
      next_[n] = cell | kExtended;
      queue.push(entry(d, n));
    });
  }
}

bool GoalField::reaches(Vec2 p) const {
  if (!grid_->inside(p)) return false;
  const int32_t next = next_[grid_->cell_of(p)];
  return next != kNone && !(next & kExtended);
}

double GoalField::distance_by_cell(Vec2 p, int cell) const {
  const int32_t next = plain(next_[cell]);
  if (next == kGoal) return norm(p - goal_);
  return distance_[next] + norm(p - grid_->center(next));
}

double GoalField::distance(Vec2 p) const {
  const PlanningGrid& g = *grid_;
  // between the four nearest centres, so that the value does not jump where the next corner changes
  const double u = std::clamp((p.x - g.origin.x) / g.cell - 0.5, 0.0, g.width - 1.0);
  const double v = std::clamp((p.y - g.origin.y) / g.cell - 0.5, 0.0, g.height - 1.0);
  const int x = std::min(static_cast<int>(u), std::max(0, g.width - 2));
  const int y = std::min(static_cast<int>(v), std::max(0, g.height - 2));
  const int right = g.width > 1 ? 1 : 0, up = g.height > 1 ? g.width : 0;
  const int c = y * g.width + x;
  const double a = u - x, b = v - y;
  const double low = (1 - a) * distance_by_cell(p, c) + a * distance_by_cell(p, c + right);
  const double high = (1 - a) * distance_by_cell(p, c + up) + a * distance_by_cell(p, c + up + right);
  return (1 - b) * low + b * high;
}

Vec2 GoalField::point_ahead(Vec2 p, double ahead) const {
  int32_t next = plain(next_[grid_->cell_of(p)]);
  for (;;) {
    const Vec2 corner = next == kGoal ? goal_ : grid_->center(next);
    const Vec2 step = corner - p;
    const double length = norm(step);
    if (length >= ahead) return p + (ahead / length) * step;
    if (next == kGoal) return goal_;
    ahead -= length;
    p = corner;
    next = plain(next_[next]);
  }
}

}  // namespace mvsim
