#include "terrain/height_map.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "terrain/height_scan.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using F = hn::Rebind<float, D>;
using I = hn::Rebind<int32_t, D>;
using VD = hn::Vec<D>;

// One map and one pose of the points, in every lane.
struct Scan {
  const float* heights;
  int32_t columns;
  VD origin_x, origin_y, cosine, sine, corner_x, corner_y, nodes_per_metre, rows, columns_less_one, z;
};

// Lanes(D()) points, x and y in turns.
HWY_INLINE void scan_lanes(const Scan& scan, const double* points, float* out) {
  const D dd;
  const F df;
  const I di;
  VD x, y;
  hn::LoadInterleaved2(dd, points, x, y);
  const VD at_x = hn::Add(scan.origin_x, hn::Sub(hn::Mul(scan.cosine, x), hn::Mul(scan.sine, y)));
  const VD at_y = hn::Add(scan.origin_y, hn::Add(hn::Mul(scan.sine, x), hn::Mul(scan.cosine, y)));
  VD u = hn::Mul(hn::Sub(at_x, scan.corner_x), scan.nodes_per_metre);
  VD v = hn::Mul(hn::Sub(at_y, scan.corner_y), scan.nodes_per_metre);
  const auto low = hn::And(hn::Ge(u, hn::Zero(dd)), hn::Ge(v, hn::Zero(dd)));
  const auto inside = hn::And(low, hn::And(hn::Lt(u, scan.rows), hn::Lt(v, scan.columns_less_one)));
  u = hn::IfThenElseZero(inside, u);
  v = hn::IfThenElseZero(inside, v);
  const auto row = hn::DemoteTo(di, u), column = hn::DemoteTo(di, v);
  const VD a = hn::Sub(u, hn::PromoteTo(dd, row)), b = hn::Sub(v, hn::PromoteTo(dd, column));
  const auto first = hn::Add(hn::Mul(row, hn::Set(di, scan.columns)), column);
  const auto node = [&](int32_t offset) HWY_ATTR {
    return hn::PromoteTo(dd, hn::GatherIndex(df, scan.heights, hn::Add(first, hn::Set(di, offset))));
  };
  const VD z00 = node(0), z01 = node(1), z10 = node(scan.columns), z11 = node(scan.columns + 1);
  const auto upper = hn::Ge(b, a);
  const VD along_a = hn::IfThenElse(upper, hn::Sub(z11, z01), hn::Sub(z10, z00));
  const VD along_b = hn::IfThenElse(upper, hn::Sub(z01, z00), hn::Sub(z11, z10));
  const VD height = hn::Add(hn::Add(z00, hn::Mul(along_a, a)), hn::Mul(along_b, b));
  hn::StoreU(hn::DemoteTo(df, hn::Sub(hn::IfThenElseZero(inside, height), scan.z)), df, out);
}

void scan(const HeightMap& map, Vec2 origin, const Rotation2& turn, const Vec2* points, size_t count,
          double z, float* out) {
  const D dd;
  const size_t lanes = hn::Lanes(dd);
  const auto all = [&](double value) HWY_ATTR { return hn::Set(dd, value); };
  const Scan scan{.heights = map.heights().data(),
                  .columns = map.columns(),
                  .origin_x = all(origin.x),
                  .origin_y = all(origin.y),
                  .cosine = all(turn.c),
                  .sine = all(turn.s),
                  .corner_x = all(map.corner().x),
                  .corner_y = all(map.corner().y),
                  .nodes_per_metre = all(1 / map.resolution()),
                  .rows = all(map.rows() - 1),
                  .columns_less_one = all(map.columns() - 1),
                  .z = all(z)};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) scan_lanes(scan, &points[i].x, out + i);
  if (i == count) return;
  double rest[2 * hn::MaxLanes(dd)] = {};
  float heights[hn::MaxLanes(dd)];
  for (size_t k = i; k < count; ++k) {
    rest[2 * (k - i)] = points[k].x;
    rest[2 * (k - i) + 1] = points[k].y;
  }
  scan_lanes(scan, rest, heights);
  std::copy_n(heights, count - i, out + i);
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(scan);

}  // namespace

void scan_heights(const HeightMap& map, Vec2 origin, const Rotation2& turn, std::span<const Vec2> points,
                  double z, float* out) {
  HWY_DYNAMIC_DISPATCH(scan)(map, origin, turn, points.data(), points.size(), z, out);
}

}  // namespace mvsim
#endif
