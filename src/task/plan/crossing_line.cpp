#include "task/plan/crossing_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mvsim {
namespace {

// The circle around some consecutive pieces.
struct Run {
  size_t begin = 0, end = 0;
  Vec2 center;
  double radius = 0;
};

bool overlap(double a0, double a1, double b0, double b1) {
  return std::max(std::min(a0, a1), std::min(b0, b1)) <= std::min(std::max(a0, a1), std::max(b0, b1));
}

// Whether two points are on the same side of the line through `from` and `to`.
bool are_beside(Vec2 from, Vec2 to, Vec2 p, Vec2 q) {
  return cross(to - from, p - from) * cross(to - from, q - from) > 0;
}

}  // namespace

CrossingLine::CrossingLine(const std::vector<Vec2>& points) : points_(points), along_{0} {
  for (size_t i = 0; i < points_.size(); ++i)
    along_.push_back(along_.back() + norm(corner(i + 1) - points_[i]));
  crosses_itself_ = has_crossing();
}

bool CrossingLine::has_crossing() const {
  constexpr size_t kRun = 8;
  const size_t count = points_.size();
  std::vector<Run> runs;
  for (size_t begin = 0; begin < count; begin += kRun) {
    Run run{begin, std::min(begin + kRun, count), {}, 0};
    run.center = 0.5 * (points_[begin] + corner(run.end));
    for (size_t i = begin; i <= run.end; ++i) run.radius = std::max(run.radius, norm(corner(i) - run.center));
    runs.push_back(run);
  }
  for (size_t a = 0; a < runs.size(); ++a)
    for (size_t b = a; b < runs.size(); ++b) {
      if (norm(runs[a].center - runs[b].center) > runs[a].radius + runs[b].radius) continue;
      for (size_t i = runs[a].begin; i < runs[a].end; ++i)
        for (size_t k = std::max(runs[b].begin, i + 2); k < runs[b].end; ++k)
          if ((k + 1) % count != i && meet(i, k)) return true;
    }
  return false;
}

// Whether the ends of each piece are not on the same side of the other.
bool CrossingLine::meet(size_t i, size_t k) const {
  const Vec2 a = points_[i], b = corner(i + 1), c = points_[k], d = corner(k + 1);
  return overlap(a.x, b.x, c.x, d.x) && overlap(a.y, b.y, c.y, d.y) && !are_beside(a, b, c, d) &&
         !are_beside(c, d, a, b);
}

double CrossingLine::follow(Vec2 point, double along) const {
  const double length = along_.back(), low = along - kWindow * length, high = along + kWindow * length;
  const double laps = length * std::floor(low / length);  // begin of the lap
  const auto after = std::upper_bound(along_.begin(), along_.end() - 1, low - laps);
  size_t i = static_cast<size_t>(std::max<std::ptrdiff_t>(after - along_.begin() - 1, 0));
  double start = laps + along_[i], best = std::numeric_limits<double>::infinity(), found = along;
  while (start < high) {
    const Vec2 way = corner(i + 1) - points_[i];
    const double piece = along_[i + 1] - along_[i];
    const double on = std::clamp(dot(point - points_[i], way) / piece, std::clamp(low - start, 0.0, piece),
                                 std::min(high - start, piece));
    const Vec2 off = point - points_[i] - on / piece * way;
    if (dot(off, off) < best) {
      best = dot(off, off);
      found = start + on;
    }
    start += piece;
    i = (i + 1) % points_.size();
  }
  return found;
}

}  // namespace mvsim
