// The policy that moves straight on and changes its direction at random times.
#include "task/move/body_policy.h"

namespace mvsim {
namespace {

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

}  // namespace

std::unique_ptr<const BodyPolicy> make_random_walk(TermReader& reader) {
  return std::make_unique<RandomWalk>(reader);
}

}  // namespace mvsim
