#include "task/plan/goal_field.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "task/plan/path_tables.h"
#include "task/plan/shortest_path.h"

namespace mvsim {

std::shared_ptr<const GoalField> GoalFieldCache::find(const Key& key) {
  const auto it = index_.find(key);
  if (it == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->field;
}

void GoalFieldCache::add(const Key& key, const std::shared_ptr<const GoalField>& field) {
  entries_.push_front({key, field});
  index_[key] = entries_.begin();
  bytes_ += field->bytes();
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().field->bytes();
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void GoalFieldCache::finish(const Key& key) {
  in_making_.erase(key);
  made_.notify_all();
}

std::shared_ptr<const GoalField> GoalFieldCache::get(size_t variant,
                                                     const std::shared_ptr<const PlanningGrid>& grid,
                                                     Vec2 goal, const Poll& poll) {
  constexpr std::chrono::milliseconds kBetweenPolls(10);
  const Key key{variant, goal.x, goal.y};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto field = find(key)) return field;
    if (in_making_.insert(key).second) break;
    made_.wait_for(lock, kBetweenPolls);
    if (!poll) continue;
    lock.unlock();
    poll();
    lock.lock();
  }
  lock.unlock();
  std::shared_ptr<const GoalField> field;
  try {
    field = std::make_shared<const GoalField>(grid, goal, poll);
  } catch (...) {
    lock.lock();
    finish(key);  // a waiting thread makes it
    throw;
  }
  lock.lock();
  add(key, field);
  finish(key);
  return field;
}

size_t GoalFieldCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr int kPollEvery = 16;              // cells
constexpr double kBucketOfCell = 1.0 / 32;  // width of the queue's buckets

}  // namespace

// The search from the goal outward; it exists while a field is made.
struct GoalField::Search {
  Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll);

  Vec2 center(int cell) const { return cell == goal_cell ? goal : tables->center(cell); }
  float through(int cell, int32_t corner) const;
  void settle(int cell, float distance);
  std::ptrdiff_t mark_deciding(Vec2 start, std::vector<uint8_t>& wanted) const;
  // Runs until the cells that decide the value at `start` are closed, or all cells are.
  void run(const Vec2* start);
  void extend();

  const PlanningGrid& g;
  const Poll& poll;
  std::shared_ptr<const PathTables> tables;
  double searched = kFar;  // see GoalField
  Vec2 goal;
  int32_t goal_cell;
  std::vector<float> distance;  // of a cell's centre
  std::vector<int32_t> next;    // by cell: the cell of the next corner; the goal's cell stands for the goal
  std::vector<uint8_t> closed;
};

GoalField::Search::Search(const PlanningGrid& grid, Vec2 goal_point, const Poll& search_poll)
    : g(grid),
      poll(search_poll),
      tables(grid.tables ? grid.tables : std::make_shared<const PathTables>(grid)),
      goal(goal_point),
      goal_cell(grid.cell_of(goal_point)) {
  const size_t n = g.free.size();
  distance.assign(n, kFar);
  next.assign(n, kNone);
  closed.assign(n, 0);
  distance[goal_cell] = 0;
  next[goal_cell] = goal_cell;
}

float GoalField::Search::through(int cell, int32_t corner) const {
  return distance[corner] + static_cast<float>(norm(center(cell) - center(corner)));
}

// Closes a cell, which has the corner of a neighbour without a check of visibility. If the corner is hidden,
// the cell takes that of its best neighbour.
void GoalField::Search::settle(int cell, float found) {
  distance[cell] = found;
  if (tables->is_visible(cell, next[cell])) return;
  float best = kFar;
  int32_t best_cell = kNone;
  tables->for_moves(cell, [&](int n) {
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

// Marks the cells that decide the value at `start`: the four around it, and the neighbours of those that are
// not free (see extend()). Returns their number; 0 if the value comes from farther away.
std::ptrdiff_t GoalField::Search::mark_deciding(Vec2 start, std::vector<uint8_t>& wanted) const {
  wanted.assign(g.free.size(), 0);
  bool decided = true;
  for (const int cell : quad_at(g, start).cells) {
    if (g.free[cell]) {
      wanted[cell] = 1;
      continue;
    }
    bool has_free = false;
    tables->for_neighbors(cell, [&](int n) {
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
  CellQueue queue(kBucketOfCell * g.cell);
  queue.push(0, goal_cell);
  for (int count = 0; !queue.empty(); ++count) {
    if (poll && count % kPollEvery == 0) poll();
    const auto [found, cell] = queue.pop();
    if (closed[cell] || found != distance[cell]) continue;
    settle(cell, found);
    if (distance[cell] > found) {
      queue.push(distance[cell], cell);
      continue;
    }
    closed[cell] = 1;
    if (open > 0 && wanted[cell] && --open == 0) {
      searched = found;
      return;
    }
    const int32_t corner = next[cell];
    const float from = distance[corner];
    const PathTables::Offsets offsets(*tables, cell, center(corner));
    // the same corner: the same distance
    const auto may_gain = [&](int n) {
      return static_cast<int>(closed[n] == 0) & static_cast<int>(next[n] != corner);
    };
    for (unsigned left = tables->moves_where(cell, may_gain); left != 0; left &= left - 1) {
      const auto direction = static_cast<unsigned>(std::countr_zero(left));
      const float d = from + static_cast<float>(offsets.distance(direction));
      const int n = tables->neighbor(cell, direction);
      if (d >= distance[n]) continue;
      distance[n] = d;
      next[n] = corner;
      queue.push(d, n);
    }
  }
}

// Gives cells that are not free the best corner of their neighbours, layer by layer. A robot's reference
// point may be in such a cell.
void GoalField::Search::extend() {
  std::vector<int32_t> frontier, corners;
  const auto add_neighbors = [&](int cell) {
    tables->for_solid_neighbors(cell, [&](int n) {
      if (closed[n]) return;
      closed[n] = 1;
      frontier.push_back(n);
    });
  };
  closed = g.free;
  for (int i = 0; i < static_cast<int>(next.size()); ++i)
    if (next[i] != kNone && tables->moves(i) != PathTables::kAll) add_neighbors(i);
  while (!frontier.empty()) {
    const std::vector<int32_t> layer = std::move(frontier);
    frontier.clear();
    corners.assign(layer.size(), kNone);
    for (size_t i = 0; i < layer.size(); ++i) {
      float best = kFar;
      int32_t latest = kNone;  // cached, since neighbours often share a corner
      const auto has_path = [&](int n) { return next[n] != kNone; };
      for (unsigned left = tables->neighbors_where(layer[i], has_path); left != 0; left &= left - 1) {
        const int n = tables->neighbor(layer[i], static_cast<unsigned>(std::countr_zero(left)));
        if (next[n] == latest || next[n] == corners[i]) continue;
        latest = next[n];
        const float d = through(layer[i], latest);
        if (d >= best) continue;
        best = d;
        corners[i] = latest;
      }
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
  // only cells where paths bend keep their distance
  std::vector<int32_t> index(search.next.size(), kNone);
  std::vector<int32_t> cells;
  const auto index_of = [&](int32_t cell) {
    if (index[cell] == kNone) {
      index[cell] = static_cast<int32_t>(cells.size());
      cells.push_back(cell);
    }
    return index[cell];
  };
  index_of(search.goal_cell);
  for (const int32_t next : search.next)
    if (next != kNone) index_of(next);
  keep_corners(search.next, index, cells.size());
  corners_.reserve(cells.size());
  for (size_t k = 0; k < cells.size(); ++k) {
    const int32_t cell = cells[k];
    corners_.push_back(
        {search.center(cell), search.distance[cell], k == 0 ? kNone : index_of(search.next[cell])});
  }
}

// Stores corners by cell. `index` maps cells to indices of corners.
void GoalField::keep_corners(std::span<const int32_t> next, std::span<const int32_t> index, size_t count) {
  const auto index_of = [&](int32_t cell) {
    return cell == kNone ? kNone : index[static_cast<size_t>(cell)];
  };
  if (count >= kNoneShort) {
    corner_.reserve(next.size());
    for (const int32_t cell : next) corner_.push_back(index_of(cell));
    return;
  }
  short_corner_.reserve(next.size());
  for (const int32_t cell : next) short_corner_.push_back(static_cast<uint16_t>(index_of(cell)));
}

size_t GoalField::bytes() const {
  return sizeof *this + corner_.capacity() * sizeof(int32_t) + short_corner_.capacity() * sizeof(uint16_t) +
         corners_.capacity() * sizeof(Corner);
}

bool GoalField::reaches(Vec2 p) const {
  if (!grid_->inside(p)) return false;
  const int cell = grid_->cell_of(p);
  return grid_->free[cell] && corner_of(cell) != kNone;
}

double GoalField::distance_by_cell(Vec2 p, int cell) const {
  const int32_t c = corner_of(cell);
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
  // interpolates between the four nearest centres, so that the value is continuous where the next corner
  // changes
  const auto [cells, a, b] = quad_at(*grid_, p);
  const double low = (1 - a) * distance_by_cell(p, cells[0]) + a * distance_by_cell(p, cells[1]);
  const double high = (1 - a) * distance_by_cell(p, cells[2]) + a * distance_by_cell(p, cells[3]);
  return (1 - b) * low + b * high;
}

Vec2 GoalField::point_ahead(Vec2 p, double ahead) const {
  for (int32_t c = std::max(0, corner_of(grid_->cell_of(p)));; c = corners_[c].next) {
    const Vec2 step = corners_[c].point - p;
    const double length = norm(step);
    if (length >= ahead) return p + (ahead / length) * step;
    if (corners_[c].next == kNone) return goal_;
    ahead -= length;
    p = corners_[c].point;
  }
}

}  // namespace mvsim
