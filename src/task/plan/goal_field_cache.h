// The fields of the goals that were asked for lately, at most 64 MB of them. Thread-safe.
//
// A field is a pure function of its key, so what the cache holds shows in the time that a reset takes and in
// nothing else. Each is made by whoever asks first; others who ask meanwhile wait for it.
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

  // The field of `goal` in `grid` (of world variant `variant`), made if it is not held.
  std::shared_ptr<const GoalField> get(size_t variant, const std::shared_ptr<const PlanningGrid>& grid,
                                       Vec2 goal, const Poll& poll = {});
  size_t bytes() const;

 private:
  using Key = std::tuple<size_t, double, double>;
  struct Entry {
    Key key;
    std::shared_ptr<const GoalField> field;
  };

  std::shared_ptr<const GoalField> find(const Key& key);  // null: not held
  void add(const Key& key, const std::shared_ptr<const GoalField>& field);
  void finish(const Key& key);

  size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::set<Key> in_making_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the latest used first
  std::map<Key, std::list<Entry>::iterator> index_;
};

}  // namespace mvsim
