#include "task/plan/goal_field_cache.h"

#include <chrono>

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

}  // namespace mvsim
