// Shortest paths between cells, and their queue.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/geometry.h"
#include "base/load_guard.h"

namespace mvsim {

// A queue of cells, the smallest distance first, then the smallest index. The order does not depend on memory
// or history.
//
// Entries are in buckets by distance. Only those of the current bucket are sorted. Distances are not
// negative, so they compare like their bits.

class CellQueue {
 public:
  struct Entry {
    float distance;
    int32_t cell;
  };

  // `width` is that of a bucket, m.
  explicit CellQueue(double width) : buckets_per_metre_(static_cast<float>(1 / width)) {}

  bool empty() const { return size_ == 0; }

  void push(float distance, int32_t cell) {
    const uint64_t key = uint64_t{std::bit_cast<uint32_t>(distance)} << 32 | static_cast<uint32_t>(cell);
    const size_t bucket = bucket_of(distance);
    ++size_;
    if (bucket <= present_) {
      front_.push_back(key);
      std::push_heap(front_.begin(), front_.end(), std::greater<>());
      return;
    }
    if (bucket >= last_.size()) last_.resize(bucket + 1, kNone);
    waiting_.push_back({key, last_[bucket]});
    last_[bucket] = static_cast<int32_t>(waiting_.size()) - 1;
  }

  Entry pop() {
    while (front_.empty()) advance();
    std::pop_heap(front_.begin(), front_.end(), std::greater<>());
    const uint64_t key = front_.back();
    front_.pop_back();
    --size_;
    return {std::bit_cast<float>(static_cast<uint32_t>(key >> 32)), static_cast<int32_t>(key & 0xffffffff)};
  }

 private:
  static constexpr int32_t kNone = -1;
  static constexpr size_t kMaxBucket = 1 << 18;  // for all larger distances

  struct Waiting {
    uint64_t key;
    int32_t before;  // previous entry of the same bucket
  };

  size_t bucket_of(float distance) const {
    const float bucket = distance * buckets_per_metre_;
    return bucket < static_cast<float>(kMaxBucket) ? static_cast<size_t>(bucket) : kMaxBucket;
  }

  void advance() {
    ++present_;
    for (int32_t i = last_[present_]; i != kNone; i = waiting_[static_cast<size_t>(i)].before)
      front_.push_back(waiting_[static_cast<size_t>(i)].key);
    std::make_heap(front_.begin(), front_.end(), std::greater<>());
  }

  float buckets_per_metre_;
  size_t size_ = 0, present_ = 0;
  std::vector<uint64_t> front_;  // entries of the current bucket and those before, a heap
  std::vector<int32_t> last_;    // by bucket: its latest entry
  std::vector<Waiting> waiting_;
};

// The length of one shortest path, for SPL. It equals that of a GoalField of the whole world, without making
// one.

class Simulation;

struct PathQuery {
  size_t agent = 0;      // index of the vehicle, which is no obstacle
  double cell = 0.1;     // m, of the planning grid
  double inflation = 0;  // m, distance of a path from all obstacles
  Vec2 start, goal;
  double expected = 0;  // m, estimate of the length; it affects the work, not the result
};

// Returns the length (m) of the shortest path in the current world of `simulation`. It is
// GoalField::distance(start), up to the rounding of its float distances. `poll` is called often and may
// throw.
double shortest_path_length(const Simulation& simulation, const PathQuery& query, const Poll& poll = {});

}  // namespace mvsim
