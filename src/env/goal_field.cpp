#include "env/goal_field.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>

#include "env/free_space.h"
#include "raycast/polygon_distance.h"
#include "sim/simulation.h"

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

namespace {

double cells_along(double length, double cell) {
  return std::max(1.0, std::ceil(length / cell - 1e-9));
}

}  // namespace

// A search looks along a line from every cell, so its work grows with cells times the longer side.
double planning_cell_of(const Rect& r, double cell) {
  constexpr double kMaxCells = 1 << 18, kMaxSide = 1 << 10;
  const auto fits = [&](double side) {
    const double width = cells_along(r.x_max - r.x_min, side), height = cells_along(r.y_max - r.y_min, side);
    return width * height <= kMaxCells && width * height * std::max(width, height) <= kMaxCells * kMaxSide;
  };
  constexpr int kMaxSteps = 2000;  // ends for bounds that are not finite too
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

PlanningGrid make_planning_grid(const Simulation& simulation, size_t agent, double cell, double inflation,
                                const Poll& poll) {
  const Model& model = simulation.model();
  PlanningGrid g = empty_planning_grid(model.bounds, cell);
  for (int i = 0; i < g.width * g.height; ++i) {
    if (poll && i % kPollEvery == 0) poll();
    const Vec2 center = g.center(i);
    g.free[i] = is_known_ground(model, center) && distance_to_static(model, center, inflation) >= inflation;
  }
  // what moves, each thing over the cells that it may reach: as is_free() says of each of them
  for (const MovingShape& shape : simulation.obstacles(static_cast<int>(agent))) {
    if (poll) poll();
    const double reach = inflation + shape.radius;
    if (!std::isfinite(shape.center.x + shape.center.y)) continue;
    const Vec2 margin{reach + g.cell, reach + g.cell};
    if (const Vec2 far = shape.center + margin, near = shape.center - margin;
        far.x < g.origin.x || far.y < g.origin.y || near.x > g.origin.x + g.width * g.cell ||
        near.y > g.origin.y + g.height * g.cell)
      continue;
    const int first = g.cell_of(shape.center - margin), last = g.cell_of(shape.center + margin);
    for (int row = first / g.width; row <= last / g.width; ++row)
      for (int column = first % g.width; column <= last % g.width; ++column) {
        const int index = row * g.width + column;
        const Vec2 d = shape.center - g.center(index);
        if (!g.free[index] || dot(d, d) >= reach * reach) continue;
        const std::span<const Vec2> outline{shape.vertices, static_cast<size_t>(shape.count)};
        if (polygon_point_distance(outline, g.center(index)) < inflation) g.free[index] = 0;
      }
  }
  return g;
}

// The search from the goal outward; lives while a field is made.
struct GoalField::Search {
  Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll);

  float through(int cell, int32_t corner) const;
  void settle(int cell, float distance);
  void run();
  void extend();

  const PlanningGrid& g;
  const Poll& poll;
  Vec2 goal;
  int32_t goal_cell;
  std::vector<Vec2> centers;
  std::vector<float> distance;  // of a cell's centre
  std::vector<int32_t>
      next;  // the cell of the next corner of its path; the goal's own cell stands for the goal
  std::vector<uint8_t> closed;
};

GoalField::Search::Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll)
    : g(grid), poll(search_poll), goal(goal_point), goal_cell(grid.cell_of(goal_point)) {
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
  if (is_visible(g, cell, next[cell])) return;
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

void GoalField::Search::run() {
  if (!g.free[goal_cell]) return;
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
    : grid_(std::move(grid)), goal_(goal) {
  Search search(*grid_, goal, poll);
  search.run();
  search.extend();
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
