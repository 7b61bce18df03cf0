// Places on a closed line that crosses itself, such as an eight. Near a crossing the nearest place may be on
// the other branch, so places are followed from one moment to the next. Immutable, any thread.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

class CrossingLine {
 public:
  static constexpr double kWindow = 0.125;  // share of the length that a place may move to either side

  // `points`: of a Centreline, closed.
  explicit CrossingLine(const std::vector<Vec2>& points);

  // Whether two pieces that are no neighbours have a point in common.
  bool crosses_itself() const { return crosses_itself_; }
  // Returns the place nearest to a point that was at `along` a moment before, at most kWindow of the length
  // away from there. Places are distances along the line, m, counted on over laps.
  double follow(Vec2 point, double along) const;

 private:
  bool has_crossing() const;
  bool meet(size_t i, size_t k) const;
  Vec2 corner(size_t i) const { return points_[i % points_.size()]; }

  std::vector<Vec2> points_;
  std::vector<double> along_;  // of each point, and the length of the line
  bool crosses_itself_ = false;
};

}  // namespace mvsim
