#include "render/rays/tile_shading.h"

#include <algorithm>
#include <cmath>

#include "render/shading.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "render/rays/color_kernel.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, RayGrid::kBlock>;
using H = hn::Rebind<float, D>;  // the same number of floats
using VH = hn::Vec<H>;

HWY_INLINE VH smoothstep(float edge, VH x) {
  const H dh;
  const VH t = hn::Min(hn::Max(hn::Div(x, hn::Set(dh, edge)), hn::Zero(dh)), hn::Set(dh, 1.0F));
  return hn::Mul(hn::Mul(t, t), hn::Sub(hn::Set(dh, 3.0F), hn::Mul(hn::Set(dh, 2.0F), t)));
}

// Stores values to every third float from `out` on.
HWY_INLINE void store_channel(VH values, float* out) {
  HWY_ALIGN float lane[hn::MaxLanes(H())];
  hn::Store(values, H(), lane);
  for (size_t i = 0; i < hn::Lanes(H()); ++i) out[3 * i] = lane[i];
}

void sky(const Sky& sky, const GridFunction& up, const RayGrid& grid, int row, size_t column, size_t count,
         float* colors) {
  const D d;
  const H dh;
  const size_t lanes = hn::Lanes(d);
  const double slope = grid.slope[static_cast<size_t>(row)];
  for (size_t i = 0; i < count; i += lanes, colors += 3 * lanes) {
    const auto a = hn::LoadU(d, grid.a.data() + column + i), b = hn::LoadU(d, grid.b.data() + column + i);
    const auto square = hn::Add(hn::Add(hn::Mul(a, a), hn::Mul(b, b)), hn::Set(d, slope * slope));
    const auto rise = hn::Add(hn::Add(hn::Mul(hn::Set(d, up.a), a), hn::Mul(hn::Set(d, up.b), b)),
                              hn::Set(d, up.slope * slope));
    const VH height = hn::DemoteTo(dh, hn::Div(rise, hn::Sqrt(square)));
    const auto is_above = hn::Gt(height, hn::Zero(dh));
    const VH share =
        hn::IfThenElse(is_above, smoothstep(kSkyEndAbove, height), smoothstep(kSkyEndBelow, hn::Neg(height)));
    for (size_t k = 0; k < 3; ++k) {
      const VH horizon = hn::Set(dh, sky.horizon[k]);
      const VH end = hn::IfThenElse(is_above, hn::Set(dh, sky.above[k]), hn::Set(dh, sky.below[k]));
      store_channel(hn::Add(horizon, hn::Mul(share, hn::Sub(end, horizon))), colors + k);
    }
  }
}

void even(const EvenSurface& surface, const std::array<float, 3>& light, const RayGrid& grid, int row,
          int column, const double* distances, float* colors) {
  const D d;
  const H dh;
  const auto r = static_cast<size_t>(row);
  for (size_t i = 0; i < RayGrid::kBlock; i += hn::Lanes(d)) {
    const size_t at = static_cast<size_t>(column) + i;
    const auto a = hn::LoadU(d, grid.a.data() + at), b = hn::LoadU(d, grid.b.data() + at);
    const auto length = hn::Mul(hn::LoadU(d, distances + i), hn::Set(d, grid.length[r]));
    for (size_t k = 0; k < 3; ++k) {
      const GridFunction& f = surface.base[k];
      const auto columns = hn::Add(hn::Mul(hn::Set(d, f.a), a), hn::Mul(hn::Set(d, f.b), b));
      const auto along = hn::Add(columns, hn::Set(d, f.slope * grid.slope[r]));
      const auto base = hn::Add(hn::Set(d, surface.rest[k]), hn::Mul(length, along));
      const VH share = hn::Max(hn::DemoteTo(dh, base), hn::Zero(dh));
      store_channel(hn::Sqrt(hn::Mul(share, hn::Set(dh, light[k]))), colors + 3 * i + k);
    }
  }
}

void bytes(const float* shares, size_t count, uint8_t* out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto share = hn::Min(hn::Max(hn::LoadU(df, shares + i), hn::Zero(df)), hn::Set(df, 1.0F));
    const auto rounded = hn::Add(hn::Mul(share, hn::Set(df, 255.0F)), hn::Set(df, 0.5F));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, rounded)), d8, out + i);
  }
  for (; i < count; ++i) {
    const float rounded = std::min(std::max(shares[i], 0.0F), 1.0F) * 255.0F + 0.5F;  // as above
    out[i] = static_cast<uint8_t>(rounded);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(sky);
HWY_EXPORT(even);
HWY_EXPORT(bytes);

}  // namespace

void sky_colors(const Sky& of, const GridFunction& up, const RayGrid& grid, int row, size_t column,
                size_t count, float* colors) {
  HWY_DYNAMIC_DISPATCH(sky)(of, up, grid, row, column, count, colors);
}

std::array<float, 3> EvenSurface::color(const RayGrid& grid, int row, int column, double distance,
                                        const std::array<float, 3>& light) const {
  const auto r = static_cast<size_t>(row), c = static_cast<size_t>(column);
  const double length = distance * grid.length[r];
  std::array<float, 3> out{};
  for (size_t k = 0; k < 3; ++k) {
    const GridFunction& f = base[k];
    const double along = f.a * grid.a[c] + f.b * grid.b[c] + f.slope * grid.slope[r];
    out[k] = std::sqrt(std::max(static_cast<float>(rest[k] + length * along), 0.0F) * light[k]);
  }
  return out;
}

void even_colors(const EvenSurface& surface, const std::array<float, 3>& light, const RayGrid& grid, int row,
                 int column, const double* distances, float* colors) {
  HWY_DYNAMIC_DISPATCH(even)(surface, light, grid, row, column, distances, colors);
}

void color_bytes(std::span<const float> shares, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(bytes)(shares.data(), shares.size(), out);
}

}  // namespace mvsim
#endif
