#include "env/plan/goal_field_cache.h"

namespace mvsim {

std::shared_ptr<const GoalField> GoalFieldCache::get(size_t variant,
                                                     const std::shared_ptr<const PlanningGrid>& grid,
                                                     Vec2 goal, const Poll& poll) {
  const Key key{variant, goal.x, goal.y};
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      return it->second->field;
    }
  }
  // two threads may make the same field: better than making others wait
  auto field = std::make_shared<const GoalField>(grid, goal, poll);
  const std::lock_guard lock(mutex_);
  if (const auto it = index_.find(key); it != index_.end()) return it->second->field;
  entries_.push_front({key, field});
  index_[key] = entries_.begin();
  bytes_ += field->bytes();
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().field->bytes();
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return field;
}

size_t GoalFieldCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace mvsim
