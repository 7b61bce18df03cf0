#include "raycast/grid_field.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/cast_grid.cpp"
#include "base/highway_targets.h"

#ifndef MVSIM_RAYCAST_CAST_GRID_ONCE
#define MVSIM_RAYCAST_CAST_GRID_ONCE
namespace mvsim {

// Beside this float lie integers only, so the bits of kWhole + i are kWholeBits + i, for |i| < kWholeRange.
constexpr float kWhole = 0x1.8p23f;
constexpr uint32_t kWholeBits = std::bit_cast<uint32_t>(kWhole);
constexpr int kWholeRange = 1 << 22;

// One scan in units of cells, relative to the origin's own cell, or of an origin outside the grid's cell next
// to it: small numbers keep floats exact.
struct GridScan {
  const uint8_t* codes;
  int stride, plane_size;
  float shift_x, shift_y;  // see Group::code_offsets()
  int plane_shift;
  float first_codes[4];                // of the origin's cell by plane, if it is inside
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
  int first;  // number of the first of its rays

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
    const VI zero_plane = hn::Set(di, scan.plane_shift), left_plane = hn::Set(di, scan.plane_size);
    plane = hn::Add(hn::Add(zero_plane, hn::IfThenElseZero(hn::RebindMask(di, left), left_plane)),
                    hn::IfThenElseZero(hn::RebindMask(di, down), hn::ShiftLeft<1>(left_plane)));
    if (!scan.inside) return;
    const auto first_code = [&](int below) HWY_ATTR {
      return hn::IfThenElse(left, hn::Set(df, scan.first_codes[below + 1]),
                            hn::Set(df, scan.first_codes[below]));
    };
    code = hn::IfThenElse(down, first_code(2), first_code(0));
    move(scan);
  }

  // No rays: lanes that stay where they are.
  HWY_INLINE void rest(const GridScan& scan) {
    const F df;
    dx = dy = inv_dx = inv_dy = near_x = near_y = far_x = far_y = step_x = step_y = hn::Zero(df);
    t = cell_x = cell_y = code = hn::Zero(df);
    plane = hn::Set(I(), scan.plane_shift);
    entered = alive = hn::Lt(t, t);
  }

  // GridField::code_offset() of the cells: (y - y % 8) * stride + (x - x % 8) * 8 + y % 8 * 8 + x % 8. Cells
  // become integers by addition of kWhole; `shift` also adds what is left of the origin's cell by 8, and
  // `plane` has the rest of it, less what the bits of kWhole add to the offset.
  HWY_INLINE VI code_offsets(const GridScan& scan) const {
    const F df;
    const I di;
    const VI x = hn::BitCast(di, hn::Add(cell_x, hn::Set(df, scan.shift_x)));
    const VI y = hn::BitCast(di, hn::Add(cell_y, hn::Set(df, scan.shift_y)));
    const VI rows = hn::Mul(hn::And(y, hn::Set(di, ~7)), hn::Set(di, scan.stride));
    const VI in_line = hn::OrAnd(hn::And(x, hn::Set(di, 7)), hn::ShiftLeft<3>(y), hn::Set(di, 56));
    return hn::Add(hn::Add(plane, rows), hn::OrAnd(in_line, hn::ShiftLeft<3>(x), hn::Set(di, ~63)));
  }

  HWY_INLINE void advance(const GridScan& scan) {
    code = hn::ConvertTo(F(), gather_codes(scan.codes, code_offsets(scan)));
    move(scan);
  }

  // Either over the border to the next cell, or as far as the code says that all is free.
  HWY_INLINE void move(const GridScan& scan) {
    const F df;
    const auto is_free = hn::Ge(code, hn::Set(df, GridField::kFreeCode));
    alive = hn::And(alive, hn::And(is_free, hn::Le(t, hn::Set(df, scan.limit))));

    const VF exit_x = hn::Mul(hn::Add(cell_x, far_x), inv_dx);
    const VF exit_y = hn::Mul(hn::Add(cell_y, far_y), inv_dy);
    const VF exit = hn::Min(exit_x, exit_y);
    // the product is exact, so a fused operation rounds as two do
    const VF cells =
        hn::MulSub(code, hn::Set(df, 1.0f / GridField::kCodesPerCell), hn::Set(df, scan.free_offset));
    const VF free = hn::Add(t, cells);
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

// The rays of a scan, which groups take in turn.
class Rays {
 public:
  Rays(const GridScan& scan, const float* dx, const float* dy, int count, float* range)
      : scan_(scan), dx_(dx), dy_(dy), count_(count), range_(range) {
    // the last group may be short: filled up with copies of the last ray
    for (int i = 0; i < kLanes && rest_begin_ < count; ++i) {
      const int ray = std::min(rest_begin_ + i, count - 1);
      rest_dx_[i] = dx[ray];
      rest_dy_[i] = dy[ray];
      rest_[i] = range[ray];
    }
  }

  HWY_INLINE bool are_left() const { return left_ > 0; }

  HWY_INLINE void start(Group& group) {
    group.first = next_;
    next_ += kLanes;
    if (group.first < rest_begin_)
      group.start(scan_, dx_ + group.first, dy_ + group.first);
    else if (group.first < count_)
      group.start(scan_, rest_dx_, rest_dy_);
  }

  // Starts the next rays if those of the group have ended.
  HWY_INLINE void renew(Group& group) {
    if (HWY_LIKELY(!group.done()) || group.first >= count_) return;
    group.finish(scan_, group.first < rest_begin_ ? range_ + group.first : rest_);
    --left_;
    start(group);
  }

  void keep_rest() const {
    for (int i = rest_begin_; i < count_; ++i) range_[i] = rest_[i - rest_begin_];
  }

 private:
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(F()));

  const GridScan& scan_;
  const float* dx_;
  const float* dy_;
  int count_;
  float* range_;
  int rest_begin_ = count_ - count_ % kLanes, next_ = 0, left_ = (count_ + kLanes - 1) / kLanes;
  HWY_ALIGN float rest_dx_[kLanes], rest_dy_[kLanes], rest_[kLanes];
};

// Three groups are in flight at once: their gathers overlap, and each starts its next rays when its own are
// done. They are variables and not an array, so that the compiler keeps what changes in registers.
void cast_scan(const GridScan& scan, const float* dx, const float* dy, int count, float* range) {
  Rays rays(scan, dx, dy, count, range);
  Group a, b, c;
  a.rest(scan);
  b.rest(scan);
  c.rest(scan);
  rays.start(a);
  rays.start(b);
  rays.start(c);
  while (rays.are_left()) {
    a.advance(scan);
    b.advance(scan);
    c.advance(scan);
    rays.renew(a);
    rays.renew(b);
    rays.renew(c);
  }
  rays.keep_rest();
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(cast_scan);

constexpr double kFarAway = 1e7;  // cells; beyond, positions in float would no longer tell cells apart
constexpr double kFarthest = kWholeRange - 64;  // cells; no ray is longer

}  // namespace

void cast_grid(const GridField& grid, double x, double y, const float* dx, const float* dy, int count,
               double max_range, float* range) {
  const double px = x / grid.resolution(), py = y / grid.resolution();
  if (!(std::fabs(px) < kFarAway && std::fabs(py) < kFarAway) || !(max_range >= 0)) return;
  const int ix = std::clamp(static_cast<int>(std::floor(px)), 0, grid.width() - 1);
  const int iy = std::clamp(static_cast<int>(std::floor(py)), 0, grid.height() - 1);

  GridScan scan;
  scan.codes = grid.codes();
  scan.stride = grid.stride();
  scan.plane_size = grid.plane_size();
  const int border_x = ix + 1, border_y = iy + 1;  // the origin's cell, counted from the border
  scan.shift_x = kWhole + static_cast<float>(border_x & 7);
  scan.shift_y = kWhole + static_cast<float>(border_y & 7);
  const auto line_x = static_cast<uint32_t>(border_x & ~7), line_y = static_cast<uint32_t>(border_y & ~7);
  scan.plane_shift = static_cast<int>((line_x - kWholeBits) * 8 +
                                      (line_y - kWholeBits) * static_cast<uint32_t>(scan.stride));
  for (int plane = 0; plane < 4; ++plane)
    scan.first_codes[plane] = scan.codes[plane * scan.plane_size + grid.code_offset(ix, iy)];
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
      std::min({max_range / grid.resolution(), std::sqrt(reach_x * reach_x + reach_y * reach_y), kFarthest});
  scan.limit = static_cast<float>(reach * (1 + 1e-6) + 1e-3);
  const double margin = 1.0 / 64 + 4e-7 * reach;  // more than the rounding errors of a position
  scan.free_offset = static_cast<float>(margin + double{GridField::kFreeCode} / GridField::kCodesPerCell);
  scan.resolution = static_cast<float>(grid.resolution());
  scan.max_range = static_cast<float>(std::min(max_range, 3e38));
  HWY_DYNAMIC_DISPATCH(cast_scan)(scan, dx, dy, count, range);
}

}  // namespace mvsim
#endif
