#include "raycast/field_kernel.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/field_kernel.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void row_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest) {
  const hn::ScalableTag<int16_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  static_assert(hn::MaxLanes(d) <= kRowBorder - kMaxGap);
  for (int begin = 0; begin < width; begin += lanes) {
    auto best = hn::LoadU(d, column + begin);
    for (int steps = 1; steps <= kMaxGap; ++steps) {
      const auto gap = hn::Set(d, static_cast<int16_t>(gap_square(steps)));
      if (hn::AllFalse(d, hn::Gt(best, gap))) break;  // what follows is farther
      best = hn::Min(best, hn::Add(hn::LoadU(d, column + (begin + steps * ahead_x)), gap));
    }
    hn::StoreU(best, d, nearest + begin);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(row_ahead);

}  // namespace

void nearest_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest) {
  HWY_DYNAMIC_DISPATCH(row_ahead)(column, width, ahead_x, nearest);
}

}  // namespace mvsim
#endif
