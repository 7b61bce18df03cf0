// Which of many points of the plane is the nearest to a place: a tree of boxes. Immutable but for its count
// of work; not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

class NearestSample {
 public:
  // Bytes that a tree of so many points takes.
  static double memory_of(size_t count);

  // `points`: x and y of point i at [stride * i] and [stride * i + 1]; at least one point.
  NearestSample(const std::vector<double>& points, size_t stride, const LoadGuard& guard);

  // Its index; of equally near points the first. `guess`: any point; a near one saves time.
  // Some 50 looks for points all over the plane, far more where many are about equally near (a circle, from
  // within).
  uint32_t find(double x, double y, uint32_t guess);

  int64_t looks() const { return looks_; }  // boxes and points compared with so far

 private:
  struct Sample {
    double x, y;
    uint32_t index;
  };
  // The points of a part of `samples_`; its halves stand at [2 i + 1] and [2 i + 2] of `boxes_`.
  struct Box {
    double x_min, y_min, x_max, y_max;
    uint32_t first_index;  // the least of its points
  };
  struct Search {
    double x, y;
    double squared;
    uint32_t found;
  };

  void sort(size_t box, size_t begin, size_t end, const LoadGuard& guard);
  void look(Search& search, size_t box, size_t begin, size_t end);
  static double squared_distance(const Search& search, const Box& box);
  // Whether a box at this distance may hold a better point.
  static bool may_hold(const Search& search, const Box& box, double squared) {
    return squared < search.squared || (squared == search.squared && box.first_index < search.found);
  }

  const std::vector<double>& points_;
  size_t stride_;
  std::vector<Sample> samples_;
  std::vector<Box> boxes_;
  int64_t looks_ = 0;
};

}  // namespace mvsim
