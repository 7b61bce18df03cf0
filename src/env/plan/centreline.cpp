#include "env/plan/centreline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"

namespace mvsim {

Centreline::Centreline(std::vector<Vec2> points) : points_(std::move(points)) {
  const size_t count = points_.size();
  if (count < kMinPoints || count > kMaxPoints)
    throw Error("found " + std::to_string(count) + " points, expected " + std::to_string(kMinPoints) +
                " to " + std::to_string(kMaxPoints));
  pieces_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Vec2 step = points_[(i + 1) % count] - points_[i];
    const double length = norm(step);
    if (!(length > 0 && std::isfinite(length)))
      throw Error("found point " + std::to_string(i + 1) +
                  " where the next one is, expected a closed line whose points differ (the first is not "
                  "repeated at its end)");
    pieces_.push_back({points_[i], 1 / length * step, length, length_, math::atan2(step.y, step.x)});
    length_ += length;
  }
}

double Centreline::nearest(Vec2 point) const {
  double best = std::numeric_limits<double>::infinity(), along = 0;
  for (const Piece& piece : pieces_) {
    const Vec2 d = point - piece.start;
    const double on = std::clamp(dot(d, piece.direction), 0.0, piece.length);
    const Vec2 off = d - on * piece.direction;
    const double distance = dot(off, off);
    if (distance >= best) continue;
    best = distance;
    along = piece.along + on;
  }
  return along < length_ ? along : 0;
}

double Centreline::nearest(Vec2 point, double along) const {
  return along + std::remainder(nearest(point) - along, length_);
}

Pose2 Centreline::at(double along) const {
  double on = along - length_ * std::floor(along / length_);
  if (!(on >= 0 && on < length_)) on = 0;
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), on,
                                      [](double value, const Piece& piece) { return value < piece.along; });
  const Piece& piece = *(after - 1);
  const Vec2 p = piece.start + (on - piece.along) * piece.direction;
  return {p.x, p.y, piece.yaw};
}

}  // namespace mvsim
