// The policy that moves along a smooth random path through points of a border. From point to point the path
// is a cubic, whose position and velocity continue those of the one before.
#include <algorithm>
#include <cmath>

#include "task/move/body_policy.h"

namespace mvsim {
namespace {

// A cubic of a body's place over time, from now on: p + a t + b t^2 + c t^3.
struct Cubic {
  Vec2 p, a, b, c;
  Vec2 at(double t) const { return p + t * (a + t * (b + t * c)); }
};

// Returns the cubic that was `step` seconds ago where the velocity of the last step says, is at `p` now, and
// after `time` seconds at `end` with the velocity `leaving`.
Cubic cubic_to(Vec2 p, Vec2 velocity, double step, Vec2 end, Vec2 leaving, double time) {
  const Vec2 bend = 1 / (time + step) * (1 / time * (end - p) - velocity);
  const Vec2 c = 1 / (time * (time + step)) * (leaving - velocity - (2 * time + step) * bend);
  const Vec2 b = bend - (time - step) * c;
  return {p, velocity + step * b - step * step * c, b, c};
}

double length_of(const Cubic& cubic, double time) {
  constexpr int kPieces = 32;
  double length = 0;
  Vec2 last = cubic.p;
  for (int i = 1; i <= kPieces; ++i) {
    const Vec2 next = cubic.at(time * i / kPieces);
    length += norm(next - last);
    last = next;
  }
  return length;
}

}  // namespace

// MoverState::goal of a moving body is the next point of the border, `asked` the velocity there, and
// `next` the number of control periods up to it.
class Spline final : public BodyPolicy {
 public:
  explicit Spline(TermReader& reader) {
    constexpr Range kSides[] = {kPlace, kPlace, kPlace, kPlace};
    const auto sides = reader.numbers("area", kSides, "x_min x_max y_min y_max");
    if (!sides)
      reader.fail("area", "found none, expected the rectangle on whose border the paths have points");
    low_ = {(*sides)[0], (*sides)[2]};
    high_ = {(*sides)[1], (*sides)[3]};
    if (!(low_.x < high_.x && low_.y < high_.y))
      reader.fail("area", "found a rectangle without a width or height, expected one with both");
    deviation_ = reader.interval("deviation", {0, 100}).value_or(Interval{});
  }

  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const override {
    const Vec2 here = view.self.position;
    if (mover.next == 0) choose_point(view, mover, random);
    const Cubic way = cubic_to(here, view.self.velocity, view.period, mover.goal, mover.asked,
                               view.period * static_cast<double>(mover.next));
    --mover.next;
    const Vec2 there = way.at(view.period);
    return 1 / view.period *
           (Vec2{std::clamp(there.x, low_.x, high_.x), std::clamp(there.y, low_.y, high_.y)} - here);
  }
  bool has_goal() const override { return false; }

 private:
  static constexpr int kTries = 20;
  static constexpr double kSlowest = 0.1, kMostPeriods = 1e6;  // m/s, and the longest way to a point

  // Draws a point of the border, the velocity along the border there, and the time up to it.
  void choose_point(const BodyView& view, MoverState& mover, RandomStream& random) const {
    const Vec2 here = view.self.position, size = high_ - low_;
    const double far = 0.5 * std::min(size.x, size.y);
    Vec2 border;
    for (int i = 0; i < kTries; ++i) {
      const double along = random.uniform(0, 2 * (size.x + size.y));
      const double upper = along < size.x + size.y ? 0 : 1, rest = along - upper * (size.x + size.y);
      border = rest < size.x ? Vec2{1, 0} : Vec2{0, 1};
      mover.goal = rest < size.x ? Vec2{low_.x + rest, low_.y + upper * size.y}
                                 : Vec2{low_.x + upper * size.x, low_.y + rest - size.x};
      if (norm(mover.goal - here) >= far) break;
    }
    const double deviation = random.uniform(deviation_.low, deviation_.high);
    const double speed = std::max(kSlowest, mover.speed + deviation * random.normal());
    mover.asked = dot(border, mover.goal - here) < 0 ? -speed * border : speed * border;
    double time = std::max(norm(mover.goal - here) / speed, view.period);
    time = length_of(cubic_to(here, view.self.velocity, view.period, mover.goal, mover.asked, time), time) /
           speed;
    mover.next = static_cast<uint32_t>(std::clamp(std::round(time / view.period), 1.0, kMostPeriods));
  }

  Vec2 low_, high_;     // corners of the area
  Interval deviation_;  // m/s, standard deviation of the speed from point to point
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<Spline>(TermReader& reader) {
  return std::make_unique<Spline>(reader);
}

}  // namespace mvsim
