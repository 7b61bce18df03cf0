#include "env/plan/goal_field.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>

namespace mvsim {
namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr int32_t kNone = -1;
constexpr int kPollEvery = 16;  // cells

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

// Calls visit(cell) for each of the 8 neighbours on the grid.
template <typename Visit>
void for_neighbors(const PlanningGrid& g, int cell, const Visit& visit) {
  const int x = cell % g.width, y = cell / g.width;
  for (const Neighbor n : kNeighbors) {
    const int nx = x + n.dx, ny = y + n.dy;
    if (nx >= 0 && ny >= 0 && nx < g.width && ny < g.height) visit(ny * g.width + nx);
  }
}

// The same for free neighbours that a straight move reaches: a diagonal needs both cells beside it free.
template <typename Visit>
void for_free_neighbors(const PlanningGrid& g, int cell, const Visit& visit) {
  const int x = cell % g.width, y = cell / g.width;
  for (const Neighbor n : kNeighbors) {
    const int nx = x + n.dx, ny = y + n.dy;
    if (nx < 0 || ny < 0 || nx >= g.width || ny >= g.height || !g.free[ny * g.width + nx]) continue;
    if (n.dx != 0 && n.dy != 0 && !(g.free[y * g.width + nx] && g.free[ny * g.width + x])) continue;
    visit(ny * g.width + nx);
  }
}

// How many cells of a rectangle are not free, in constant time.
class BlockedCells {
 public:
  explicit BlockedCells(const PlanningGrid& g)
      : stride_(static_cast<size_t>(g.width) + 1), sums_(stride_ * (static_cast<size_t>(g.height) + 1)) {
    for (int y = 0; y < g.height; ++y) {
      int32_t row = 0;
      const size_t below = y * stride_, above = below + stride_;
      for (int x = 0; x < g.width; ++x) {
        row += g.free[static_cast<size_t>(y) * g.width + x] ? 0 : 1;
        sums_[above + x + 1] = sums_[below + x + 1] + row;
      }
    }
  }
  // Corners included.
  bool none_between(int x0, int y0, int x1, int y1) const {
    if (x0 > x1) std::swap(x0, x1);
    if (y0 > y1) std::swap(y0, y1);
    const size_t low = y0 * stride_, high = (y1 + size_t{1}) * stride_;
    return sums_[high + x1 + 1] - sums_[high + x0] == sums_[low + x1 + 1] - sums_[low + x0];
  }

 private:
  size_t stride_;
  std::vector<int32_t> sums_;  // of the cells below and to the left
};

// Whether the segment between two cell centres runs through free cells only; passing exactly through a corner
// needs both cells beside it.
bool is_visible(const PlanningGrid& g, const BlockedCells& blocked, int from, int to) {
  if (blocked.none_between(from % g.width, from / g.width, to % g.width, to / g.width)) return true;
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

// The search from the goal outward; lives while a field is made.
struct GoalField::Search {
  Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll);

  float through(int cell, int32_t corner) const;
  void settle(int cell, float distance);
  std::ptrdiff_t mark_deciding(Vec2 start, std::vector<uint8_t>& wanted) const;
  // Until the cells that decide the value at `start` are closed, or all are.
  void run(const Vec2* start);
  void extend();

  const PlanningGrid& g;
  const Poll& poll;
  BlockedCells blocked;
  double searched = kFar;  // see GoalField
  Vec2 goal;
  int32_t goal_cell;
  std::vector<Vec2> centers;
  std::vector<float> distance;  // of a cell's centre
  std::vector<int32_t>
      next;  // the cell of the next corner of its path; the goal's own cell stands for the goal
  std::vector<uint8_t> closed;
};

GoalField::Search::Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll)
    : g(grid), poll(search_poll), blocked(grid), goal(goal_point), goal_cell(grid.cell_of(goal_point)) {
  const size_t n = g.free.size();
  centers.resize(n);
  for (size_t i = 0; i < n; ++i) centers[i] = g.center(static_cast<int>(i));
  centers[goal_cell] = goal;
  distance.assign(n, kFar);
  next.assign(n, kNone);
  closed.assign(n, 0);
  distance[goal_cell] = 0;
  next[goal_cell] = goal_cell;
}

float GoalField::Search::through(int cell, int32_t corner) const {
  return distance[corner] + static_cast<float>(norm(centers[cell] - centers[corner]));
}

// A cell took its corner over from a neighbour without looking. Look now, and go by the best neighbour if the
// corner is hidden.
void GoalField::Search::settle(int cell, float found) {
  distance[cell] = found;
  if (is_visible(g, blocked, cell, next[cell])) return;
  float best = kFar;
  int32_t best_cell = kNone;
  for_free_neighbors(g, cell, [&](int n) {
    if (!closed[n]) return;
    const float d = through(cell, n);
    if (d < best || (d == best && n < best_cell)) {
      best = d;
      best_cell = n;
    }
  });
  distance[cell] = best;
  next[cell] = best_cell;
}

// Marks the cells that decide the value at `start`: the four about it, and of one that is not free its
// neighbours, see extend(). Returns how many; 0 if the value comes from farther away.
std::ptrdiff_t GoalField::Search::mark_deciding(Vec2 start, std::vector<uint8_t>& wanted) const {
  wanted.assign(g.free.size(), 0);
  bool decided = true;
  for (const int cell : quad_at(g, start).cells) {
    if (g.free[cell]) {
      wanted[cell] = 1;
      continue;
    }
    bool has_free = false;
    for_neighbors(g, cell, [&](int n) {
      if (!g.free[n]) return;
      has_free = true;
      wanted[n] = 1;
    });
    decided = decided && has_free;
  }
  return decided ? std::count(wanted.begin(), wanted.end(), uint8_t{1}) : 0;
}

void GoalField::Search::run(const Vec2* start) {
  if (!g.free[goal_cell]) return;
  std::vector<uint8_t> wanted;
  auto open = start ? mark_deciding(*start, wanted) : 0;
  Queue queue;
  queue.push(entry(0, goal_cell));
  for (int count = 0; !queue.empty(); ++count) {
    if (poll && count % kPollEvery == 0) poll();
    const float found = distance_of(queue.top());
    const int32_t cell = cell_of(queue.top());
    queue.pop();
    if (closed[cell] || found != distance[cell]) continue;
    settle(cell, found);
    if (distance[cell] > found) {
      queue.push(entry(distance[cell], cell));
      continue;
    }
    closed[cell] = 1;
    if (open > 0 && wanted[cell] && --open == 0) {
      searched = found;
      return;
    }
    for_free_neighbors(g, cell, [&](int n) {
      if (closed[n]) return;
      const float d = through(n, next[cell]);
      if (d >= distance[n]) return;
      distance[n] = d;
      next[n] = next[cell];
      queue.push(entry(d, n));
    });
  }
}

// Cells that are not free go on with the best corner of their neighbours, layer by layer: a robot's reference
// point may well be over one.
void GoalField::Search::extend() {
  std::vector<int32_t> frontier, corners;
  const auto add_neighbors = [&](int cell) {
    for_neighbors(g, cell, [&](int n) {
      if (g.free[n] || next[n] != kNone || closed[n]) return;
      closed[n] = 1;
      frontier.push_back(n);
    });
  };
  for (int i = 0; i < static_cast<int>(next.size()); ++i)
    if (next[i] != kNone) add_neighbors(i);
  while (!frontier.empty()) {
    const std::vector<int32_t> layer = std::move(frontier);
    frontier.clear();
    corners.assign(layer.size(), kNone);
    for (size_t i = 0; i < layer.size(); ++i) {
      float best = kFar;
      for_neighbors(g, layer[i], [&](int n) {
        if (next[n] == kNone) return;
        const float d = through(layer[i], next[n]);
        if (d >= best) return;
        best = d;
        corners[i] = next[n];
      });
    }
    for (size_t i = 0; i < layer.size(); ++i) next[layer[i]] = corners[i];
    for (int32_t cell : layer) add_neighbors(cell);
  }
}

GoalField::GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, const Poll& poll)
    : GoalField(std::move(grid), goal, nullptr, poll) {}

GoalField::GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, Vec2 start, const Poll& poll)
    : GoalField(std::move(grid), goal, &start, poll) {}

GoalField::GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, const Vec2* start, const Poll& poll)
    : grid_(std::move(grid)), goal_(goal) {
  Search search(*grid_, goal, poll);
  search.run(start);
  search.extend();
  searched_ = search.searched;
  // only the cells where paths bend keep their distance
  std::vector<int32_t> index(search.next.size(), kNone);
  std::vector<int32_t> cells;
  const auto corner_of = [&](int32_t cell) {
    if (index[cell] == kNone) {
      index[cell] = static_cast<int32_t>(cells.size());
      cells.push_back(cell);
    }
    return index[cell];
  };
  corner_of(search.goal_cell);
  corner_.resize(search.next.size());
  for (size_t i = 0; i < corner_.size(); ++i)
    corner_[i] = search.next[i] == kNone ? kNone : corner_of(search.next[i]);
  corners_.reserve(cells.size());
  for (size_t k = 0; k < cells.size(); ++k) {
    const int32_t cell = cells[k];
    corners_.push_back(
        {search.centers[cell], search.distance[cell], k == 0 ? kNone : corner_of(search.next[cell])});
  }
}

size_t GoalField::bytes() const {
  return sizeof *this + corner_.capacity() * sizeof(int32_t) + corners_.capacity() * sizeof(Corner);
}

bool GoalField::reaches(Vec2 p) const {
  if (!grid_->inside(p)) return false;
  const int cell = grid_->cell_of(p);
  return grid_->free[cell] && corner_[cell] != kNone;
}

double GoalField::distance_by_cell(Vec2 p, int cell) const {
  const int32_t c = corner_[cell];
  if (c == kNone) return norm(p - goal_);
  return corners_[c].distance + norm(p - corners_[c].point);
}

GoalField::Quad GoalField::quad_at(const PlanningGrid& g, Vec2 p) {
  const double u = std::clamp((p.x - g.origin.x) / g.cell - 0.5 - g.first_column, 0.0, g.width - 1.0);
  const double v = std::clamp((p.y - g.origin.y) / g.cell - 0.5 - g.first_row, 0.0, g.height - 1.0);
  const int x = std::min(static_cast<int>(u), std::max(0, g.width - 2));
  const int y = std::min(static_cast<int>(v), std::max(0, g.height - 2));
  const int right = g.width > 1 ? 1 : 0, up = g.height > 1 ? g.width : 0;
  const int c = y * g.width + x;
  return {{c, c + right, c + up, c + up + right}, u - x, v - y};
}

double GoalField::distance(Vec2 p) const {
  // between the four nearest centres, so that the value does not jump where the next corner changes
  const auto [cells, a, b] = quad_at(*grid_, p);
  const double low = (1 - a) * distance_by_cell(p, cells[0]) + a * distance_by_cell(p, cells[1]);
  const double high = (1 - a) * distance_by_cell(p, cells[2]) + a * distance_by_cell(p, cells[3]);
  return (1 - b) * low + b * high;
}

Vec2 GoalField::point_ahead(Vec2 p, double ahead) const {
  for (int32_t c = std::max(0, corner_[grid_->cell_of(p)]);; c = corners_[c].next) {
    const Vec2 step = corners_[c].point - p;
    const double length = norm(step);
    if (length >= ahead) return p + (ahead / length) * step;
    if (corners_[c].next == kNone) return goal_;
    ahead -= length;
    p = corners_[c].point;
  }
}

}  // namespace mvsim
