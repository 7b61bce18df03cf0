// The policy `python`: the velocity that the caller sets between two control periods.

#include "task/move/body_policy.h"

namespace mvsim {

class Callers final : public BodyPolicy {
 public:
  Vec2 velocity(const BodyView&, MoverState& mover, RandomStream&) const override { return mover.asked; }
  bool is_moved_by_caller() const override { return true; }
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<Callers>(TermReader&) {
  return std::make_unique<Callers>();
}

// The policy that drives straight to the goal and avoids nothing.
class GoToGoal final : public BodyPolicy {
 public:
  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream&) const override {
    return velocity_to(mover.goal, view, mover);
  }
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<GoToGoal>(TermReader&) {
  return std::make_unique<GoToGoal>();
}

// The policy that moves straight on and changes its direction at random times.
class RandomWalk final : public BodyPolicy {
 public:
  explicit RandomWalk(TermReader& reader) : straight_(reader.number("straight", 2, kPositive)) {}

  // The direction is kept in MoverState::asked, which this policy does not use otherwise.
  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const override {
    const bool blocked =
        view.wall.distance < view.self.radius + kNear && dot(mover.asked, view.wall.towards) > 0;
    const bool turns = random.uniform() * straight_ < view.period;
    if (mover.asked == Vec2{} || turns || blocked) {
      const SinCos direction = sin_cos(random.uniform(-kPi, kPi));
      mover.asked = {direction.cos, direction.sin};
    }
    return mover.speed * mover.asked;
  }
  bool has_goal() const override { return false; }

 private:
  static constexpr double kNear = 0.1;  // m

  double straight_;  // s, the mean time between two turns
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<RandomWalk>(TermReader& reader) {
  return std::make_unique<RandomWalk>(reader);
}

// The policy that moves from point to point of a path in straight lines.
class Waypoints final : public BodyPolicy {
 public:
  explicit Waypoints(TermReader& reader)
      : points_(read_points(reader, "points", 1)),
        loops_(reader.boolean("loop", true)),
        reached_(reader.number("reached", 0.1, kPositive)) {}

  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream&) const override {
    const auto last = static_cast<uint32_t>(points_.size() - 1);
    if (norm(points_[mover.next] - view.self.position) <= reached_) {
      if (mover.next < last)
        ++mover.next;
      else if (loops_)
        mover.next = 0;
    }
    mover.goal = points_[mover.next];
    return velocity_to(mover.goal, view, mover);
  }
  bool has_goal() const override { return false; }
  const std::vector<Vec2>* points() const override { return &points_; }

 private:
  std::vector<Vec2> points_;
  bool loops_;
  double reached_;  // m
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<Waypoints>(TermReader& reader) {
  return std::make_unique<Waypoints>(reader);
}

}  // namespace mvsim
