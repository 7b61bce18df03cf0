#include "raycast/grid_field.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/field_kernel.cpp"
#include "base/highway_targets.h"

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
      if (hn::AllFalse(d, hn::Gt(best, gap))) break;  // all further cells are farther
      best = hn::Min(best, hn::Add(hn::LoadU(d, column + (begin + steps * ahead_x)), gap));
    }
    hn::StoreU(best, d, nearest + begin);
  }
}

void column_steps(const uint8_t* cells, int width, int16_t* steps, int16_t* square) {
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto one = hn::Set(d, 1), beyond = hn::Set(d, kMaxGap + 1);
  for (int i = 0; i < width; i += static_cast<int>(hn::Lanes(d))) {
    const auto cell = hn::PromoteTo(d, hn::LoadU(bytes, cells + i));
    const auto further = hn::Min(hn::Add(hn::LoadU(d, steps + i), one), beyond);
    const auto count =
        hn::IfThenElseZero(hn::Eq(cell, hn::Set(d, static_cast<int16_t>(Cell::kFree))), further);
    const auto gap = hn::Max(hn::Sub(count, one), hn::Zero(d));
    hn::StoreU(count, d, steps + i);
    hn::StoreU(hn::Mul(gap, gap), d, square + i);
  }
}

void row_codes(const uint8_t* cells, const int16_t* nearest, int width, uint8_t* codes) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<float, decltype(d)> floats;
  const hn::Rebind<int16_t, decltype(d)> shorts;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto occupied = hn::Set(d, static_cast<int32_t>(Cell::kOccupied));
  for (int i = 0; i < width; i += static_cast<int>(hn::Lanes(d))) {
    const auto cell = hn::PromoteTo(d, hn::LoadU(bytes, cells + i));
    const auto square = hn::PromoteTo(d, hn::LoadU(shorts, nearest + i));
    // the root of an integer is an integer or farther from the next than a float's rounding
    constexpr int kSquareOfCodes = GridField::kCodesPerCell * GridField::kCodesPerCell;
    const auto root =
        hn::Sqrt(hn::ConvertTo(floats, hn::Mul(square, hn::Set(d, static_cast<int32_t>(kSquareOfCodes)))));
    const auto free = hn::Add(hn::ConvertTo(d, root), hn::Set(d, static_cast<int32_t>(GridField::kFreeCode)));
    const auto stop =
        hn::IfThenElse(hn::Eq(cell, occupied), hn::Set(d, static_cast<int32_t>(GridField::kOccupiedCode)),
                       hn::Set(d, static_cast<int32_t>(GridField::kUnknownCode)));
    const auto is_free = hn::Eq(cell, hn::Set(d, static_cast<int32_t>(Cell::kFree)));
    hn::StoreU(hn::DemoteTo(bytes, hn::IfThenElse(is_free, free, stop)), bytes, codes + i);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(column_steps);
HWY_EXPORT(row_ahead);
HWY_EXPORT(row_codes);

}  // namespace

void step_over_row(const uint8_t* cells, int width, int16_t* steps, int16_t* square) {
  HWY_DYNAMIC_DISPATCH(column_steps)(cells, width, steps, square);
}

void nearest_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest) {
  HWY_DYNAMIC_DISPATCH(row_ahead)(column, width, ahead_x, nearest);
}

void write_distance_codes(const uint8_t* cells, const int16_t* nearest, int width, uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(row_codes)(cells, nearest, width, codes);
}

}  // namespace mvsim
#endif
