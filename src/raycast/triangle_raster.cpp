#include "raycast/triangle_raster.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/triangle_raster.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, RayGrid::kBlock>;
using U = hn::RebindToUnsigned<D>;
using VD = hn::Vec<D>;

// Returns the column part of a GridFunction at some columns; in_row() adds the part of the row.
HWY_INLINE VD in_columns(const GridFunction& f, VD a, VD b) {
  return hn::Add(hn::Mul(hn::Set(D(), f.a), a), hn::Mul(hn::Set(D(), f.b), b));
}

HWY_INLINE VD in_row(VD columns, VD slope_factor, VD slope) {
  return hn::Add(columns, hn::Mul(slope_factor, slope));
}

// One triangle in the columns from `column` on, rows [top, bottom).
HWY_INLINE void draw_block(const RasterTriangle& t, const RayGrid& grid, int column, int top, int bottom,
                           RasterTile& tile) {
  const D d;
  const U du;
  const auto at = static_cast<size_t>(column);
  const VD a = hn::LoadU(d, grid.a.data() + at), b = hn::LoadU(d, grid.b.data() + at);
  const VD side0 = in_columns(t.sides[0], a, b), side1 = in_columns(t.sides[1], a, b),
           side2 = in_columns(t.sides[2], a, b), nearness = in_columns(t.nearness, a, b);
  const VD slope0 = hn::Set(d, t.sides[0].slope), slope1 = hn::Set(d, t.sides[1].slope),
           slope2 = hn::Set(d, t.sides[2].slope), slope3 = hn::Set(d, t.nearness.slope);
  // Rounded products and sums keep the order of the slopes, which grow from row to row. So each function is
  // greatest in the first or in the last row, and a block in which it is too small there is empty.
  const auto greatest = [&](VD columns, VD factor, double change) HWY_ATTR {
    return in_row(columns, factor,
                  hn::Set(d, grid.slope[static_cast<size_t>(change > 0 ? bottom - 1 : top)]));
  };
  const auto is_below_zero = [&](VD columns, VD factor, double change) HWY_ATTR {
    return hn::AllTrue(d, hn::Lt(greatest(columns, factor, change), hn::Zero(d)));
  };
  constexpr int kFewRows = 8;  // are drawn in the time of this question
  if (bottom - top > kFewRows &&
      (is_below_zero(side0, slope0, t.sides[0].slope) || is_below_zero(side1, slope1, t.sides[1].slope) ||
       is_below_zero(side2, slope2, t.sides[2].slope) || is_below_zero(nearness, slope3, t.nearness.slope)))
    return;
  const auto id = hn::Set(du, t.id);
  size_t pixel =
      static_cast<size_t>(top - tile.rect.top) * tile.stride + static_cast<size_t>(column - tile.rect.left);
  for (int row = top; row < bottom; ++row, pixel += tile.stride) {
    const VD slope = hn::Set(d, grid.slope[static_cast<size_t>(row)]);
    const VD least = hn::Min(hn::Min(in_row(side0, slope0, slope), in_row(side1, slope1, slope)),
                             in_row(side2, slope2, slope));
    const VD near = in_row(nearness, slope3, slope), before = hn::LoadU(d, tile.nearness.data() + pixel);
    const auto meets = hn::And(hn::Ge(least, hn::Zero(d)), hn::Gt(near, before));
    if (hn::AllFalse(d, meets)) continue;
    const auto seen = hn::And(meets, hn::Le(near, hn::LoadU(d, tile.limit.data() + pixel)));
    hn::StoreU(hn::IfThenElse(seen, near, before), d, tile.nearness.data() + pixel);
    const auto old = hn::LoadU(du, tile.id.data() + pixel);
    hn::StoreU(hn::IfThenElse(hn::RebindMask(du, seen), id, old), du, tile.id.data() + pixel);
  }
}

void draw(std::span<const RasterTriangle> triangles, const RayGrid& grid, RasterTile& tile) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  for (const RasterTriangle& t : triangles) {
    if (!t.rect.meets(tile.rect)) continue;
    const int left = std::max(t.rect.left, tile.rect.left), right = std::min(t.rect.right, tile.rect.right);
    const int top = std::max(t.rect.top, tile.rect.top), bottom = std::min(t.rect.bottom, tile.rect.bottom);
    for (int column = left / lanes * lanes; column < right; column += lanes)
      draw_block(t, grid, column, top, bottom, tile);
  }
}

void distances(const RayGrid& grid, RasterTile& tile) {
  const D d;
  const U du;
  const size_t lanes = hn::Lanes(d);
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    const VD length = hn::Set(d, grid.length[static_cast<size_t>(row)]);
    const size_t begin = static_cast<size_t>(row - tile.rect.top) * tile.stride;
    for (size_t i = begin; i < begin + tile.stride; i += lanes) {
      const auto none =
          hn::Eq(hn::LoadU(du, tile.id.data() + i), hn::Set(du, static_cast<uint64_t>(RasterTile::kNothing)));
      const VD distance = hn::Div(hn::Set(d, 1.0), hn::Mul(length, hn::LoadU(d, tile.nearness.data() + i)));
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, none), hn::Zero(d), distance), d, tile.distance.data() + i);
    }
  }
}

void clear(const RayGrid& grid, double near, double far, RasterTile& tile) {
  const D d;
  const U du;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (int row = tile.rect.top; row < tile.rect.bottom; ++row) {
    const double length = grid.length[static_cast<size_t>(row)];
    const VD nearness = hn::Set(d, (1 - RasterTile::kAtLimit) / (far * length));
    const VD limit = hn::Set(d, (1 + RasterTile::kAtLimit) / (near * length));
    for (const size_t end = i + tile.stride; i < end; i += lanes) {
      hn::StoreU(nearness, d, tile.nearness.data() + i);
      hn::StoreU(limit, d, tile.limit.data() + i);
      hn::StoreU(hn::Set(du, static_cast<uint64_t>(RasterTile::kNothing)), du, tile.id.data() + i);
    }
  }
}

void copy(const double* distances, size_t count, double far, float* out) {
  const D d;
  const hn::Rebind<float, D> dh;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VD distance = hn::LoadU(d, distances + i);
    const auto seen = hn::Le(distance, hn::Set(d, far));
    hn::StoreU(hn::DemoteTo(dh, hn::IfThenElseZero(seen, distance)), dh, out + i);
  }
  for (; i < count; ++i) out[i] = distances[i] <= far ? static_cast<float>(distances[i]) : 0;
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(draw);
HWY_EXPORT(distances);
HWY_EXPORT(clear);
HWY_EXPORT(copy);

}  // namespace

void clear_tile(const RayGrid& grid, const PixelRect& rect, double near, double far, RasterTile& tile) {
  tile.rect = rect;
  tile.stride = tile_stride(rect.right - rect.left);
  const size_t count = tile.stride * static_cast<size_t>(rect.bottom - rect.top);
  tile.id.resize(count);
  tile.nearness.resize(count);
  tile.limit.resize(count);
  tile.distance.resize(count);
  HWY_DYNAMIC_DISPATCH(clear)(grid, near, far, tile);
}

void draw_triangles(std::span<const RasterTriangle> triangles, const RayGrid& grid, RasterTile& tile) {
  HWY_DYNAMIC_DISPATCH(draw)(triangles, grid, tile);
}

void set_distances(const RayGrid& grid, RasterTile& tile) {
  HWY_DYNAMIC_DISPATCH(distances)(grid, tile);
}

void copy_distances(std::span<const double> distances, double far, float* out) {
  HWY_DYNAMIC_DISPATCH(copy)(distances.data(), distances.size(), far, out);
}

}  // namespace mvsim
#endif
