// The policy that moves from point to point of a path in straight lines.
#include "task/move/body_policy.h"

namespace mvsim {
namespace {

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

}  // namespace

std::unique_ptr<const BodyPolicy> make_waypoints(TermReader& reader) {
  return std::make_unique<Waypoints>(reader);
}

}  // namespace mvsim
