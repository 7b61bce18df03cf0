// Shortest paths to a goal: their field, and the cache of fields.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "base/load_guard.h"
#include "task/plan/planning_grid.h"

namespace mvsim {

// Lengths of shortest paths from everywhere to one goal, among the obstacles of a world.
//
// An any-angle search (Lazy Theta*, Nash, Koenig and Tovey 2010) from the goal outward. Every cell knows the
// next corner of its path, so a length is that of a path of straight pieces, and not a sum of grid moves.
// Immutable.

class GoalField {
 public:
  // `poll` is called often and may throw.
  GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, const Poll& poll = {});
  // Searches only until distance(start) is known. Other values may differ from those of the whole field.
  GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, Vec2 start, const Poll& poll = {});

  Vec2 goal() const { return goal_; }
  const PlanningGrid& grid() const { return *grid_; }
  // Whether a path through free cells leads from a point to the goal.
  bool reaches(Vec2 p) const;
  // Returns the length of the shortest path (m). It is continuous in open space and finite everywhere, also
  // in cells that are not free, so it can serve as a potential.
  double distance(Vec2 p) const;
  // Returns the point `ahead` metres along the path from p, or the goal if it is nearer.
  Vec2 point_ahead(Vec2 p, double ahead) const;
  size_t bytes() const;
  // The distance from the goal of the farthest cell that decided distance(start); infinite if all cells did.
  double searched() const { return searched_; }

 private:
  // A point where paths bend; the first one is the goal.
  struct Corner {
    Vec2 point;
    float distance = 0;  // to the goal
    int32_t next = -1;
  };
  struct Search;

  static constexpr int32_t kNone = -1;
  static constexpr uint16_t kNoneShort = 0xffff;

  // The four cells whose centres are nearest to a point, and the position of the point between them.
  struct Quad {
    int cells[4];
    double right, up;  // 0 to 1
  };

  GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, const Vec2* start, const Poll& poll);
  static Quad quad_at(const PlanningGrid& grid, Vec2 p);
  void keep_corners(std::span<const int32_t> next, std::span<const int32_t> index, size_t count);
  int32_t corner_of(int cell) const {
    const auto i = static_cast<size_t>(cell);
    if (short_corner_.empty()) return corner_[i];
    return short_corner_[i] == kNoneShort ? kNone : short_corner_[i];
  }
  double distance_by_cell(Vec2 p, int cell) const;

  std::shared_ptr<const PlanningGrid> grid_;
  Vec2 goal_;
  double searched_ = 0;
  std::vector<Corner> corners_;
  // By cell: index of the next corner on its path, or kNone. Only one of the two is used, depending on the
  // number of corners.
  std::vector<uint16_t> short_corner_;
  std::vector<int32_t> corner_;
};

// Cache of the fields of the latest goals, at most 64 MB. Thread-safe.
//
// A field is a pure function of its key, so the cache changes the time of a reset and no result. The first
// thread that needs a field makes it; others wait for it.

class GoalFieldCache {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  explicit GoalFieldCache(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // Returns the field of `goal` in `grid` (of world variant `variant`), and makes it if it is not cached.
  std::shared_ptr<const GoalField> get(size_t variant, const std::shared_ptr<const PlanningGrid>& grid,
                                       Vec2 goal, const Poll& poll = {});
  size_t bytes() const;

 private:
  using Key = std::tuple<size_t, double, double>;
  struct Entry {
    Key key;
    std::shared_ptr<const GoalField> field;
  };

  std::shared_ptr<const GoalField> find(const Key& key);  // null: not cached
  void add(const Key& key, const std::shared_ptr<const GoalField>& field);
  void finish(const Key& key);

  size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::set<Key> in_making_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // latest use first
  std::map<Key, std::list<Entry>::iterator> index_;
};

}  // namespace mvsim
