#include "raycast/beams.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/beam_interval.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using F = hn::Rebind<float, D>;  // as many floats: all that chooses beams, and twice as quick to divide
using VF = hn::Vec<F>;

// Within 3e-4 of the angle: enough to choose beams, at a tenth of the cost of math::atan2().
HWY_INLINE VF rough_angle(VF x, VF y) {
  const F f;
  const auto all = [&](float value) HWY_ATTR { return hn::Set(f, value); };
  constexpr auto kHalfTurn = static_cast<float>(kPi), kQuarterTurn = static_cast<float>(kPi / 2);
  const VF ax = hn::Abs(x), ay = hn::Abs(y);
  const VF q = hn::Div(hn::Min(ax, ay), hn::Max(hn::Max(ax, ay), all(1e-30f))), s = hn::Mul(q, q);
  VF angle = hn::Add(hn::Mul(all(-0.0464964749f), s), all(0.15931422f));
  angle = hn::Sub(hn::Mul(angle, s), all(0.327622764f));
  angle = hn::Add(hn::Mul(hn::Mul(angle, s), q), q);
  angle = hn::IfThenElse(hn::Gt(ay, ax), hn::Sub(all(kQuarterTurn), angle), angle);
  angle = hn::IfThenElse(hn::Lt(x, hn::Zero(f)), hn::Sub(all(kHalfTurn), angle), angle);
  return hn::CopySign(angle, y);
}

// At least the arcsine of x in [0, 1].
HWY_INLINE VF arcsine_bound(VF x) {
  return hn::Add(x, hn::Mul(hn::Set(F(), static_cast<float>(kPi / 2 - 1)), hn::Mul(x, hn::Mul(x, x))));
}

void look(const Fan& fan, const CircleRow& circles, size_t count, BeamRow& out) {
  // of these approximations, of single precision, and of directions that are not quite uniform
  constexpr float kAngleError = 2e-3f;
  constexpr float kNearer = 1 - 1e-6f;  // of a distance: never too far
  const D d;
  const F f;
  const auto all = [&](double value) HWY_ATTR { return hn::Set(f, static_cast<float>(value)); };
  const double turn = 2 * kPi / std::fabs(fan.angle_step);
  // Single precision is exact enough for a turn or two, and a robot may have turned a million times.
  const double first_angle =
      std::fabs(fan.first_angle) <= 4 * kPi ? fan.first_angle : std::remainder(fan.first_angle, 2 * kPi);
  const VF beams_a_radian = all(1 / fan.angle_step), beams_a_turn = all(turn), turns_a_beam = all(1 / turn);
  const auto store = [&](VF values, double* to) HWY_ATTR { hn::StoreU(hn::PromoteTo(d, values), d, to); };
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const VF x = hn::DemoteTo(f, hn::Sub(hn::LoadU(d, circles.x + i), hn::Set(d, fan.origin.x)));
    const VF y = hn::DemoteTo(f, hn::Sub(hn::LoadU(d, circles.y + i), hn::Set(d, fan.origin.y)));
    const VF radius = hn::DemoteTo(f, hn::LoadU(d, circles.radius + i));
    const VF distance = hn::Sqrt(hn::Add(hn::Mul(x, x), hn::Mul(y, y)));
    const VF half = hn::Add(arcsine_bound(hn::Div(radius, distance)), all(kAngleError));
    const VF middle = hn::Mul(hn::Sub(rough_angle(x, y), all(first_angle)), beams_a_radian);
    const VF reach = hn::Abs(hn::Mul(half, beams_a_radian)), high = hn::Add(middle, reach);
    const VF shift = hn::Mul(hn::Floor(hn::Mul(high, turns_a_beam)), beams_a_turn);
    const auto outside = hn::Gt(distance, radius);  // else all beams
    store(hn::Sub(hn::Mul(distance, all(kNearer)), radius), out.nearest + i);
    store(hn::IfThenElseZero(outside, hn::Sub(hn::Sub(middle, reach), shift)), out.first + i);
    store(hn::IfThenElse(outside, hn::Sub(high, shift), all(fan.count - 1.0)), out.last + i);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(look);

}  // namespace

Circle bounding_circle(std::span<const Vec2> vertices) {
  Vec2 low = vertices[0], high = vertices[0];
  for (const Vec2 v : vertices) {
    low = {std::min(low.x, v.x), std::min(low.y, v.y)};
    high = {std::max(high.x, v.x), std::max(high.y, v.y)};
  }
  const Vec2 center = 0.5 * (low + high);
  double square = 0;
  for (const Vec2 v : vertices) square = std::max(square, dot(v - center, v - center));
  return {center, std::sqrt(square) * (1 + 1e-12)};
}

void look_towards(const Fan& fan, const CircleRow& circles, size_t count, BeamRow& out) {
  HWY_DYNAMIC_DISPATCH(look)(fan, circles, count, out);
}

BeamIntervals intervals_of(const Fan& fan, const BeamRow& row, size_t circle) {
  constexpr double kLongestPeriod = 1e9;  // beams; finer ones are as good as parallel
  constexpr double kLargestAngle = 1e9;   // rad; whole turns taken off more leave no angle
  BeamIntervals result;
  if (fan.count <= 0) return result;
  const double period = 2 * kPi / std::fabs(fan.angle_step);  // of a turn, in beams; infinite for a lone beam
  double low = row.first[circle], high = row.last[circle];
  const bool is_known = std::fabs(fan.first_angle) < kLargestAngle && low >= -period && high <= 2 * period;
  if (!(row.nearest[circle] > 0) || !(fan.count < 3 * period) || !(period < kLongestPeriod) || !is_known) {
    result.intervals[result.count++] = {0, fan.count};
    return result;
  }
  for (; low <= fan.count - 1; low += period, high += period) {
    const int begin = static_cast<int>(std::max(low, 0.0));
    const int end = static_cast<int>(std::min(high, fan.count - 1.0)) + 1;
    if (begin < end) result.intervals[result.count++] = {begin, end};
  }
  return result;
}

BeamIntervals beams_towards(const Fan& fan, const Circle& circle) {
  CircleRow one;
  one.x[0] = circle.center.x;
  one.y[0] = circle.center.y;
  one.radius[0] = circle.radius;
  BeamRow row;
  look_towards(fan, one, 1, row);
  return intervals_of(fan, row, 0);
}

}  // namespace mvsim
#endif
