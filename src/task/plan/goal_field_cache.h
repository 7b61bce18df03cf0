// Cache of the fields of the latest goals, at most 64 MB. Thread-safe.
//
// A field is a pure function of its key, so the cache changes the time of a reset and no result. The first
// thread that needs a field makes it; others wait for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "task/plan/goal_field.h"

namespace mvsim {

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
