#include "raycast/beam_interval.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/beam_interval.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using VD = hn::Vec<D>;

// Within 3e-4 of the angle: enough to choose beams, at a tenth of the cost of math::atan2().
HWY_INLINE VD rough_angle(VD x, VD y) {
  const D d;
  const auto all = [&](double value) HWY_ATTR { return hn::Set(d, value); };
  const VD ax = hn::Abs(x), ay = hn::Abs(y);
  const VD q = hn::Div(hn::Min(ax, ay), hn::Max(hn::Max(ax, ay), all(1e-300))), s = hn::Mul(q, q);
  VD angle = hn::Add(hn::Mul(all(-0.0464964749), s), all(0.15931422));
  angle = hn::Sub(hn::Mul(angle, s), all(0.327622764));
  angle = hn::Add(hn::Mul(hn::Mul(angle, s), q), q);
  angle = hn::IfThenElse(hn::Gt(ay, ax), hn::Sub(all(kPi / 2), angle), angle);
  angle = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(all(kPi), angle), angle);
  return hn::CopySign(angle, y);
}

// At least the arcsine of x in [0, 1].
HWY_INLINE VD arcsine_bound(VD x) {
  return hn::Add(x, hn::Mul(hn::Set(D(), kPi / 2 - 1), hn::Mul(x, hn::Mul(x, x))));
}

void look(const Fan& fan, const CircleRow& circles, size_t count, BeamRow& out) {
  constexpr double kAngleError =
      2e-3;  // of these approximations, and of directions that are not quite uniform
  const D d;
  const auto all = [&](double value) HWY_ATTR { return hn::Set(d, value); };
  const VD beams_a_radian = all(1 / fan.angle_step), beams_a_turn = all(2 * kPi / std::fabs(fan.angle_step));
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const VD x = hn::Sub(hn::LoadU(d, circles.x + i), all(fan.origin.x));
    const VD y = hn::Sub(hn::LoadU(d, circles.y + i), all(fan.origin.y));
    const VD radius = hn::LoadU(d, circles.radius + i);
    const VD distance = hn::Sqrt(hn::Add(hn::Mul(x, x), hn::Mul(y, y)));
    const VD half = hn::Add(arcsine_bound(hn::Div(radius, distance)), all(kAngleError));
    const VD middle = hn::Mul(hn::Sub(rough_angle(x, y), all(fan.first_angle)), beams_a_radian);
    const VD reach = hn::Abs(hn::Mul(half, beams_a_radian)), high = hn::Add(middle, reach);
    const VD shift = hn::Mul(hn::Floor(hn::Div(high, beams_a_turn)), beams_a_turn);
    const auto outside = hn::Gt(distance, radius);  // else all beams
    hn::StoreU(hn::Sub(distance, radius), d, out.nearest + i);
    hn::StoreU(hn::IfThenElseZero(outside, hn::Sub(hn::Sub(middle, reach), shift)), d, out.first + i);
    hn::StoreU(hn::IfThenElse(outside, hn::Sub(high, shift), all(fan.count - 1.0)), d, out.last + i);
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
  BeamIntervals result;
  if (fan.count <= 0) return result;
  const double period = 2 * kPi / std::fabs(fan.angle_step);  // of a turn, in beams; infinite for a lone beam
  if (!(row.nearest[circle] > 0) || !(fan.count < 3 * period) || !(period < kLongestPeriod)) {
    result.intervals[result.count++] = {0, fan.count};
    return result;
  }
  double low = row.first[circle], high = row.last[circle];
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
