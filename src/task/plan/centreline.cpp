#include "task/plan/centreline.h"

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
                  " equal to the next one, expected a closed line whose points differ");
    pieces_.push_back({points_[i], 1 / length * step, length, length_, math::atan2(step.y, step.x)});
    length_ += length;
  }
  size_t piece = 0;
  for (size_t share = 0; share < count; ++share) {
    const double on = length_ * static_cast<double>(share) / static_cast<double>(count);
    while (piece + 1 < count && pieces_[piece + 1].along <= on) ++piece;
    first_of_.push_back(piece);
  }
  for (size_t begin = 0; begin < count; begin += kRun) {
    Run run;
    const size_t end = std::min(begin + kRun, count);
    run.center = 0.5 * (points_[begin] + points_[end % count]);
    for (size_t i = begin; i <= end; ++i)
      run.radius = std::max(run.radius, norm(points_[i % count] - run.center));
    runs_.push_back(run);
  }
  crosses_itself_ = has_crossing();
}

bool Centreline::has_crossing() const {
  const size_t count = pieces_.size();
  for (size_t a = 0; a < runs_.size(); ++a)
    for (size_t b = a; b < runs_.size(); ++b) {
      if (norm(runs_[a].center - runs_[b].center) > runs_[a].radius + runs_[b].radius) continue;
      for (size_t i = a * kRun; i < std::min((a + 1) * kRun, count); ++i)
        for (size_t k = std::max(b * kRun, i + 2); k < std::min((b + 1) * kRun, count); ++k)
          if ((k + 1) % count != i && meet(i, k)) return true;
    }
  return false;
}

// Whether the ends of each piece are not on the same side of the other. By the corners themselves, so that no
// rounding hides pieces that touch.
bool Centreline::meet(size_t i, size_t k) const {
  const Vec2 a = points_[i], b = points_[(i + 1) % points_.size()];
  const Vec2 c = points_[k], d = points_[(k + 1) % points_.size()];
  const auto overlap = [](double a0, double a1, double b0, double b1) {
    return std::max(std::min(a0, a1), std::min(b0, b1)) <= std::min(std::max(a0, a1), std::max(b0, b1));
  };
  const auto are_beside = [](Vec2 from, Vec2 to, Vec2 p, Vec2 q) {
    return cross(to - from, p - from) * cross(to - from, q - from) > 0;
  };
  return overlap(a.x, b.x, c.x, d.x) && overlap(a.y, b.y, c.y, d.y) && !are_beside(a, b, c, d) &&
         !are_beside(c, d, a, b);
}

// Returns the place of the first of the nearest pieces. Pieces farther away than `within` are skipped.
double Centreline::nearest_within(Vec2 point, double within) const {
  constexpr double kSlack = 1e-6;  // m, beyond any rounding
  double best = std::numeric_limits<double>::infinity(), along = 0;
  for (size_t run = 0; run < runs_.size(); ++run) {
    const double reach = std::min(within, std::sqrt(best)) + runs_[run].radius + kSlack;
    const Vec2 to_run = point - runs_[run].center;
    if (dot(to_run, to_run) > reach * reach) continue;
    const size_t end = std::min((run + 1) * kRun, pieces_.size());
    for (size_t i = run * kRun; i < end; ++i) {
      const Piece& piece = pieces_[i];
      const Place place = place_on(piece, point, 0, piece.length);
      if (place.square >= best) continue;
      best = place.square;
      along = piece.along + place.on;
    }
  }
  return along < length_ ? along : 0;
}

Centreline::Place Centreline::place_on(const Piece& piece, Vec2 point, double from, double to) {
  const Vec2 d = point - piece.start;
  const double on = std::clamp(dot(d, piece.direction), from, to);
  const Vec2 off = d - on * piece.direction;
  return {on, dot(off, off)};
}

double Centreline::nearest(Vec2 point) const {
  return nearest_within(point, std::numeric_limits<double>::infinity());
}

double Centreline::nearest(Vec2 point, double along) const {
  const Piece& last = pieces_[piece_at(on_line(along))];
  const double within = std::sqrt(place_on(last, point, 0, last.length).square);
  return along + std::remainder(nearest_within(point, within) - along, length_);
}

double Centreline::follow(Vec2 point, double along) const {
  const double low = along - kWindow * length_, high = along + kWindow * length_;
  const double laps = length_ * std::floor(low / length_);  // begin of the lap
  size_t i = piece_at(on_line(low));
  double start = laps + pieces_[i].along, best = std::numeric_limits<double>::infinity(), found = along;
  while (start < high) {
    const Piece& piece = pieces_[i];
    const Place place = place_on(piece, point, std::clamp(low - start, 0.0, piece.length),
                                 std::min(high - start, piece.length));
    if (place.square < best) {
      best = place.square;
      found = start + place.on;
    }
    start += piece.length;
    i = (i + 1) % pieces_.size();
  }
  return found;
}

double Centreline::on_line(double along) const {
  const double on = along - length_ * std::floor(along / length_);
  return on >= 0 && on < length_ ? on : 0;
}

size_t Centreline::piece_at(double on) const {
  const size_t count = pieces_.size();
  size_t i = first_of_[std::min(static_cast<size_t>(on / length_ * static_cast<double>(count)), count - 1)];
  while (i > 0 && pieces_[i].along > on) --i;
  while (i + 1 < count && pieces_[i + 1].along <= on) ++i;
  return i;
}

Pose2 Centreline::at(double along) const {
  const double on = on_line(along);
  const Piece& piece = pieces_[piece_at(on)];
  const Vec2 p = piece.start + (on - piece.along) * piece.direction;
  return {p.x, p.y, piece.yaw};
}

}  // namespace mvsim
