#include "raycast/polygon_sides.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/polygon_kernel.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using H = hn::Rebind<float, D>;  // as many floats
using VD = hn::Vec<D>;

constexpr double kMiss = 1e38;  // metres; beyond any range, and a float

// Beams [0, Lanes(D)) of the arrays.
HWY_INLINE void cast_lanes(std::span<const HalfPlane> front, std::span<const HalfPlane> back,
                           const float* beam_dx, const float* beam_dy, double max_range, float* range) {
  const D dd;
  const H dh;
  const VD dx = hn::PromoteTo(dd, hn::LoadU(dh, beam_dx)), dy = hn::PromoteTo(dd, hn::LoadU(dh, beam_dy));
  const auto product = [&](HalfPlane m) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Set(dd, m.x), dx), hn::Mul(hn::Set(dd, m.y), dy));
  };
  VD enter = product(front[0]);
  for (size_t i = 1; i < front.size(); ++i) enter = hn::Min(enter, product(front[i]));
  VD leave = hn::Set(dd, -std::numeric_limits<double>::max());
  for (const HalfPlane m : back) leave = hn::Max(leave, product(m));
  const auto crosses = hn::And(hn::Gt(enter, hn::Zero(dd)), hn::Ge(enter, leave));
  if (hn::AllFalse(dd, crosses)) return;

  // merged as floats: not every target demotes an infinite range to an infinite one
  const VD distance = hn::Div(hn::Set(dd, 1.0), enter);
  const auto counts = hn::And(crosses, hn::Le(distance, hn::Set(dd, max_range)));
  const auto hit = hn::DemoteTo(dh, hn::IfThenElse(counts, distance, hn::Set(dd, kMiss)));
  const auto before = hn::LoadU(dh, range);
  const auto nearer = hn::And(hn::Lt(hit, before), hn::Lt(hit, hn::Set(dh, static_cast<float>(kMiss))));
  hn::StoreU(hn::IfThenElse(nearer, hit, before), dh, range);
}

void cast_planes(std::span<const HalfPlane> front, std::span<const HalfPlane> back, const Fan& fan,
                 BeamInterval beams, double max_range, float* range) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  if (fan.count >= lanes) {
    // the last group moves back until it fits; merging a beam twice does no harm
    for (int i = beams.begin; i < beams.end; i += lanes) {
      const int at = std::min(i, fan.count - lanes);
      cast_lanes(front, back, fan.dx + at, fan.dy + at, max_range, range + at);
    }
    return;
  }
  HWY_ALIGN float dx[hn::MaxLanes(D())], dy[hn::MaxLanes(D())], merged[hn::MaxLanes(D())];
  for (int i = 0; i < lanes; ++i) {
    const int beam = std::min(i, fan.count - 1);
    dx[i] = fan.dx[beam];
    dy[i] = fan.dy[beam];
    merged[i] = range[beam];
  }
  cast_lanes(front, back, dx, dy, max_range, merged);
  for (int i = 0; i < fan.count; ++i) range[i] = merged[i];
}

float longest(const float* range, int count) {
  const hn::ScalableTag<float> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  float result = -std::numeric_limits<float>::infinity();
  int i = 0;
  if (count >= lanes) {
    auto longest_lanes = hn::LoadU(df, range);
    for (i = lanes; i + lanes <= count; i += lanes)
      longest_lanes = hn::Max(longest_lanes, hn::LoadU(df, range + i));
    result = hn::GetLane(hn::MaxOfLanes(df, longest_lanes));
  }
  for (; i < count; ++i) result = std::max(result, range[i]);
  return result;
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(cast_planes);
HWY_EXPORT(longest);

}  // namespace

void cast_half_planes(std::span<const HalfPlane> front, std::span<const HalfPlane> back, const Fan& fan,
                      BeamInterval beams, double max_range, float* range) {
  HWY_DYNAMIC_DISPATCH(cast_planes)(front, back, fan, beams, std::min(max_range, 1e37), range);
}

bool any_longer(const float* range, BeamInterval beams, double limit) {
  constexpr int kFew = 8;
  const int end = std::min(beams.begin + kFew, beams.end);
  for (int i = beams.begin; i < end; ++i)  // nearly always one of the first
    if (range[i] > limit) return true;
  return end < beams.end && HWY_DYNAMIC_DISPATCH(longest)(range + end, beams.end - end) > limit;
}

}  // namespace mvsim
#endif
