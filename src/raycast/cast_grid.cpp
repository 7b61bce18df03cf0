#include "raycast/grid_field.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/cast_grid.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef MVSIM_RAYCAST_CAST_GRID_ONCE
#define MVSIM_RAYCAST_CAST_GRID_ONCE
namespace mvsim {

// One scan in units of cells, relative to the origin's own cell, or of an origin outside the grid's cell next
// to it: small numbers keep floats exact.
struct GridScan {
  const uint8_t* codes;
  int stride, plane_size;
  int origin_x, origin_y;              // that cell, counted from the border
  float frac_x, frac_y;                // the origin; in [0, 1] if inside
  float low_x, high_x, low_y, high_y;  // first and last cells of the grid
  bool inside;                         // the origin is in the grid
  float limit;                         // cells; rays may stop beyond it
  float free_offset;                   // cells; subtracted from the distance of a code
  float resolution, max_range;         // metres
};

}  // namespace mvsim
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::ScalableTag<int32_t>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

// The bytes at the given offsets.
HWY_INLINE VI gather_codes(const uint8_t* codes, VI offset) {
  const I di;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // each lane gathers four bytes and keeps the first; the field ends with three unused bytes
  return hn::And(hn::GatherOffset(di, reinterpret_cast<const int32_t*>(codes), offset), hn::Set(di, 0xff));
#else
  HWY_ALIGN int32_t lanes[hn::MaxLanes(I())];
  hn::Store(offset, di, lanes);
  for (size_t i = 0; i < hn::Lanes(di); ++i) lanes[i] = codes[lanes[i]];
  return hn::Load(di, lanes);
#endif
}

// As many rays as a vector has lanes, on their way. NaN never arises: directions are unit vectors, or
// replaced, and no component is zero.
struct Group {
  VF dx, dy, inv_dx, inv_dy, near_x, near_y, far_x, far_y, step_x, step_y;
  VF t, cell_x, cell_y, code;
  VI plane;
  hn::Mask<F> entered, alive;

  HWY_INLINE void start(const GridScan& scan, const float* ray_dx, const float* ray_dy) {
    const F df;
    const I di;
    const VF zero = hn::Zero(df), one = hn::Set(df, 1.0f), tiny = hn::Set(df, 1e-12f);
    dx = hn::LoadU(df, ray_dx);
    dy = hn::LoadU(df, ray_dy);
    const VF square = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
    const auto is_unit = hn::And(hn::Gt(square, hn::Set(df, 0.9998f)), hn::Lt(square, hn::Set(df, 1.0002f)));
    dx = hn::IfThenElse(hn::And(is_unit, hn::Gt(hn::Abs(dx), tiny)), dx, tiny);
    dy = hn::IfThenElse(hn::And(is_unit, hn::Gt(hn::Abs(dy), tiny)), dy, tiny);
    inv_dx = hn::Div(one, dx);
    inv_dy = hn::Div(one, dy);
    const auto left = hn::Lt(dx, zero), down = hn::Lt(dy, zero);
    const VF frac_x = hn::Set(df, scan.frac_x), frac_y = hn::Set(df, scan.frac_y);

    // borders of cell (0, 0) where the ray comes in and goes out, from the origin
    near_x = hn::Sub(hn::IfThenElse(left, one, zero), frac_x);
    near_y = hn::Sub(hn::IfThenElse(down, one, zero), frac_y);
    far_x = hn::Sub(hn::IfThenElse(left, zero, one), frac_x);
    far_y = hn::Sub(hn::IfThenElse(down, zero, one), frac_y);
    step_x = hn::IfThenElse(left, hn::Set(df, -1.0f), one);
    step_y = hn::IfThenElse(down, hn::Set(df, -1.0f), one);

    t = cell_x = cell_y = code = zero;
    entered = is_unit;
    const VF limit = hn::Set(df, scan.limit);
    if (!scan.inside) {
      const VF low_x = hn::Set(df, scan.low_x), high_x = hn::Set(df, scan.high_x);
      const VF low_y = hn::Set(df, scan.low_y), high_y = hn::Set(df, scan.high_y);
      const VF enter_x = hn::Mul(hn::Add(hn::IfThenElse(left, high_x, low_x), near_x), inv_dx);
      const VF enter_y = hn::Mul(hn::Add(hn::IfThenElse(down, high_y, low_y), near_y), inv_dy);
      const VF leave_x = hn::Mul(hn::Add(hn::IfThenElse(left, low_x, high_x), far_x), inv_dx);
      const VF leave_y = hn::Mul(hn::Add(hn::IfThenElse(down, low_y, high_y), far_y), inv_dy);
      t = hn::Max(hn::Max(enter_x, enter_y), zero);
      entered = hn::And(entered, hn::And(hn::Le(t, hn::Min(leave_x, leave_y)), hn::Le(t, limit)));
      t = hn::IfThenElseZero(entered, t);
      cell_x = hn::Min(hn::Max(hn::Floor(hn::Add(frac_x, hn::Mul(t, dx))), low_x), high_x);
      cell_y = hn::Min(hn::Max(hn::Floor(hn::Add(frac_y, hn::Mul(t, dy))), low_y), high_y);
    }
    alive = entered;
    plane = hn::Add(hn::IfThenElseZero(hn::RebindMask(di, left), hn::Set(di, scan.plane_size)),
                    hn::IfThenElseZero(hn::RebindMask(di, down), hn::Set(di, 2 * scan.plane_size)));
  }

  // No rays: lanes that stay where they are.
  HWY_INLINE void rest() {
    const F df;
    dx = dy = inv_dx = inv_dy = near_x = near_y = far_x = far_y = step_x = step_y = hn::Zero(df);
    t = cell_x = cell_y = code = hn::Zero(df);
    plane = hn::Zero(I());
    entered = alive = hn::Lt(t, t);
  }

  // Either over the border to the next cell, or as far as the field says that all is free.
  HWY_INLINE void advance(const GridScan& scan) {
    const F df;
    const I di;
    const VI x = hn::Add(hn::ConvertTo(di, cell_x), hn::Set(di, scan.origin_x));
    const VI y = hn::Add(hn::ConvertTo(di, cell_y), hn::Set(di, scan.origin_y));
    // GridField::code_offset: (y - y % 8) * stride + (x - x % 8) * 8 + y % 8 * 8 + x % 8
    const VI x_low = hn::And(x, hn::Set(di, 7)), y_high = hn::And(y, hn::Set(di, ~7));
    const VI rows = hn::Add(hn::Mul(y_high, hn::Set(di, scan.stride - 8)), hn::ShiftLeft<3>(y));
    const VI column = hn::Add(x_low, hn::ShiftLeft<3>(hn::Sub(x, x_low)));
    const VI offset = hn::Add(hn::Add(plane, column), rows);
    code = hn::ConvertTo(df, gather_codes(scan.codes, offset));
    const auto is_free = hn::Ge(code, hn::Set(df, GridField::kFreeCode));
    alive = hn::And(alive, hn::And(is_free, hn::Le(t, hn::Set(df, scan.limit))));

    const VF exit_x = hn::Mul(hn::Add(cell_x, far_x), inv_dx);
    const VF exit_y = hn::Mul(hn::Add(cell_y, far_y), inv_dy);
    const VF exit = hn::Min(exit_x, exit_y);
    const VF cells = hn::Mul(code, hn::Set(df, 1.0f / GridField::kCodesPerCell));
    const VF free = hn::Add(t, hn::Sub(cells, hn::Set(df, scan.free_offset)));
    const auto jump = hn::And(alive, hn::Gt(free, exit));
    const auto over_x = hn::And(alive, hn::Le(exit_x, exit_y));
    const auto over_y = hn::AndNot(hn::Le(exit_x, exit_y), alive);
    const VF jump_x = hn::Floor(hn::Add(hn::Set(df, scan.frac_x), hn::Mul(free, dx)));
    const VF jump_y = hn::Floor(hn::Add(hn::Set(df, scan.frac_y), hn::Mul(free, dy)));
    cell_x = hn::IfThenElse(jump, jump_x, hn::IfThenElse(over_x, hn::Add(cell_x, step_x), cell_x));
    cell_y = hn::IfThenElse(jump, jump_y, hn::IfThenElse(over_y, hn::Add(cell_y, step_y), cell_y));
    t = hn::Max(free, exit);
  }

  HWY_INLINE bool done() const { return hn::AllFalse(F(), alive); }

  // Min-merges the ranges: one expression of the cell and the ray, however the cell was found.
  HWY_INLINE void finish(const GridScan& scan, float* range) const {
    const F df;
    const VF enter_x = hn::Mul(hn::Add(cell_x, near_x), inv_dx);
    const VF enter_y = hn::Mul(hn::Add(cell_y, near_y), inv_dy);
    const VF hit = hn::Mul(hn::Max(hn::Max(enter_x, enter_y), hn::Zero(df)), hn::Set(df, scan.resolution));
    const VF before = hn::LoadU(df, range);
    const auto occupied = hn::And(entered, hn::Eq(code, hn::Set(df, float{GridField::kOccupiedCode})));
    const auto counts =
        hn::And(occupied, hn::And(hn::Le(hit, hn::Set(df, scan.max_range)), hn::Lt(hit, before)));
    hn::StoreU(hn::IfThenElse(counts, hit, before), df, range);
  }
};

// Groups in flight at once: their gathers overlap, and each starts its next rays when its own are done.
constexpr int kInFlight = hn::MaxLanes(F()) == 1 ? 1 : 3;

void cast_scan(const GridScan& scan, const float* dx, const float* dy, int count, float* range) {
  constexpr size_t kMaxLanes = hn::MaxLanes(F());
  const int lanes = static_cast<int>(hn::Lanes(F()));
  const int rest_begin = count - count % lanes;

  // the last group may be short: filled up with copies of the last ray
  HWY_ALIGN float rest_dx[kMaxLanes], rest_dy[kMaxLanes], rest[kMaxLanes];
  for (int i = 0; i < lanes && rest_begin < count; ++i) {
    const int ray = std::min(rest_begin + i, count - 1);
    rest_dx[i] = dx[ray];
    rest_dy[i] = dy[ray];
    rest[i] = range[ray];
  }

  Group slots[kInFlight];
  int first[kInFlight];  // ray of each slot; count or more: the slot is empty
  int next = 0;
  const auto start = [&](int slot) HWY_ATTR {
    first[slot] = next;
    next += lanes;
    if (first[slot] < rest_begin)
      slots[slot].start(scan, dx + first[slot], dy + first[slot]);
    else if (first[slot] < count)
      slots[slot].start(scan, rest_dx, rest_dy);
  };
  for (int slot = 0; slot < kInFlight; ++slot) {
    slots[slot].rest();
    start(slot);
  }
  int left = (count + lanes - 1) / lanes;
  while (left > 0) {
    for (Group& group : slots) group.advance(scan);
    for (int slot = 0; slot < kInFlight; ++slot) {
      if (first[slot] >= count || !slots[slot].done()) continue;
      slots[slot].finish(scan, first[slot] < rest_begin ? range + first[slot] : rest);
      --left;
      start(slot);
    }
  }
  for (int i = rest_begin; i < count; ++i) range[i] = rest[i - rest_begin];
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(cast_scan);

constexpr double kFarAway = 1e7;  // cells; beyond, positions in float would no longer tell cells apart

}  // namespace

void cast_grid(const GridField& grid, double x, double y, const float* dx, const float* dy, int count,
               double max_range, float* range) {
  const double px = x / grid.resolution(), py = y / grid.resolution();
  if (!(std::fabs(px) < kFarAway && std::fabs(py) < kFarAway) || !(max_range >= 0)) return;
  const int ix = std::clamp(static_cast<int>(std::floor(px)), 0, grid.width() - 1);
  const int iy = std::clamp(static_cast<int>(std::floor(py)), 0, grid.height() - 1);

  GridScan scan;
  scan.codes = grid.codes();
  scan.origin_x = ix + 1;
  scan.origin_y = iy + 1;
  scan.stride = grid.stride();
  scan.plane_size = grid.plane_size();
  scan.frac_x = static_cast<float>(px - ix);
  scan.frac_y = static_cast<float>(py - iy);
  scan.inside = px >= ix && px < ix + 1 && py >= iy && py < iy + 1;
  scan.low_x = static_cast<float>(-ix);
  scan.low_y = static_cast<float>(-iy);
  scan.high_x = static_cast<float>(grid.width() - 1 - ix);
  scan.high_y = static_cast<float>(grid.height() - 1 - iy);
  // no ray is longer than to the farthest corner, so errors of rounding are bounded too
  const double reach_x = std::max(std::fabs(px), std::fabs(grid.width() - px));
  const double reach_y = std::max(std::fabs(py), std::fabs(grid.height() - py));
  const double reach =
      std::min(max_range / grid.resolution(), std::sqrt(reach_x * reach_x + reach_y * reach_y));
  scan.limit = static_cast<float>(reach * (1 + 1e-6) + 1e-3);
  const double margin = 1.0 / 64 + 4e-7 * reach;  // more than the rounding errors of a position
  scan.free_offset = static_cast<float>(margin + double{GridField::kFreeCode} / GridField::kCodesPerCell);
  scan.resolution = static_cast<float>(grid.resolution());
  scan.max_range = static_cast<float>(std::min(max_range, 3e38));
  HWY_DYNAMIC_DISPATCH(cast_scan)(scan, dx, dy, count, range);
}

}  // namespace mvsim
#endif
