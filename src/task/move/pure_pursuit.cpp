// The policy that follows a path towards the point that lies ahead on it (Coulter 1992).
#include <algorithm>
#include <cmath>

#include "task/move/body_policy.h"

namespace mvsim {

class PurePursuit final : public BodyPolicy {
 public:
  explicit PurePursuit(TermReader& reader)
      : points_(read_points(reader, "points", 2)),
        loops_(reader.boolean("loop", true)),
        ahead_(reader.number("ahead", 1, kPositive)) {}

  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream&) const override {
    mover.goal = target(view.self.position, mover);
    return velocity_to(mover.goal, view, mover);
  }

  // Drives on the arc through the target.
  Twist2 twist(const BodyView& view, MoverState& mover, RandomStream&, double max_turn) const override {
    mover.goal = target(view.self.position, mover);
    const Vec2 to = Rotation2(view.yaw).unrotate(mover.goal - view.self.position);
    const double distance = norm(to);
    if (distance < kThere) return {};
    if (to.x < 0) return {0, 0, to.y < 0 ? -max_turn : max_turn};  // the target is behind
    const double curvature = 2 * to.y / (distance * distance);
    const double turn = std::clamp(mover.speed * curvature, -max_turn, max_turn);
    const double speed = turn == mover.speed * curvature ? mover.speed : std::fabs(turn / curvature);
    return {std::min(speed, distance / view.period), 0, turn};
  }
  bool has_goal() const override { return false; }
  const std::vector<Vec2>* points() const override { return &points_; }

 private:
  static constexpr double kThere = 0.02;  // m

  size_t pieces() const { return loops_ ? points_.size() : points_.size() - 1; }

  // Returns the point `ahead` along the path from the nearest point on the current piece or the one after it.
  Vec2 target(Vec2 here, MoverState& mover) const {
    double share = 0;
    double best = std::numeric_limits<double>::infinity();
    size_t piece = mover.next;
    for (size_t k = 0; k < 2; ++k) {
      const size_t candidate = loops_ ? (mover.next + k) % pieces() : std::min(mover.next + k, pieces() - 1);
      const Vec2 a = points_[candidate], way = points_[(candidate + 1) % points_.size()] - a;
      const double length = dot(way, way);
      const double along = length > 0 ? std::clamp(dot(here - a, way) / length, 0.0, 1.0) : 0;
      const double distance = norm(a + along * way - here);
      if (distance < best) best = distance, piece = candidate, share = along;
    }
    mover.next = static_cast<uint32_t>(piece);
    double left = ahead_;
    for (size_t k = 0; k <= pieces(); ++k) {
      const Vec2 a = points_[piece], way = points_[(piece + 1) % points_.size()] - a;
      const double rest = (1 - share) * norm(way);
      if (left <= rest) return a + (share + left / norm(way)) * way;
      left -= rest;
      if (!loops_ && piece + 1 == pieces()) break;
      piece = (piece + 1) % pieces();
      share = 0;
    }
    return loops_ ? points_[piece] : points_.back();
  }

  std::vector<Vec2> points_;
  bool loops_;
  double ahead_;  // m along the path
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<PurePursuit>(TermReader& reader) {
  return std::make_unique<PurePursuit>(reader);
}

}  // namespace mvsim
