// The social force model (Helbing and Molnar 1995): an attraction to the goal and a repulsion from all
// others.
#include "task/move/body_policy.h"

namespace mvsim {

class SocialForce final : public BodyPolicy {
 public:
  explicit SocialForce(TermReader& reader)
      : relaxation_(reader.number("relaxation", 1, kPositive)),
        strength_(reader.number("strength", 2, kNotNegative)),
        range_(reader.number("range", 1, kPositive)),
        wall_strength_(reader.number("wall_strength", 10, kNotNegative)),
        wall_range_(reader.number("wall_range", 0.2, kPositive)) {}

  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const override {
    const Disc& self = view.self;
    Vec2 push = 1 / relaxation_ * (velocity_to(mover.goal, view, mover) - self.velocity);
    for (const Disc& other : view.others) {
      const Vec2 from = self.position - other.position;
      const double distance = norm(from);
      if (distance == 0) continue;
      const double gap = distance - self.radius - other.radius;
      push = push + strength_ * math::exp(-gap / range_) / distance * from;
    }
    if (view.wall.distance < kSightOfWalls + self.radius)
      push = push -
             wall_strength_ * math::exp((self.radius - view.wall.distance) / wall_range_) * view.wall.towards;
    // without it two people head-on would push each other straight back
    const Vec2 nudge{random.uniform(-kNudge, kNudge), random.uniform(-kNudge, kNudge)};
    return limited(self.velocity + view.period * (push + nudge), mover.speed);
  }

 private:
  static constexpr double kNudge = 0.05;  // m/s2

  double relaxation_;        // s
  double strength_, range_;  // m/s2 at contact; m over which it falls to 1/e
  double wall_strength_, wall_range_;
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<SocialForce>(TermReader& reader) {
  return std::make_unique<SocialForce>(reader);
}

}  // namespace mvsim
