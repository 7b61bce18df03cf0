#include "raycast/triangle_raster.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/shadow_raster.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using VD = hn::Vec<D>;

HWY_INLINE VD value(const SunFunction& f, VD u, VD v) {
  const D d;
  return hn::Add(hn::Add(hn::Mul(hn::Set(d, f.du), u), hn::Mul(hn::Set(d, f.dv), v)), hn::Set(d, f.rest));
}

void block(const SunTriangle& t, SunPoints& points) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  for (size_t i = 0; i < points.count; i += hn::Lanes(d)) {
    const VD u = hn::Load(d, points.u.data() + i), v = hn::Load(d, points.v.data() + i);
    const VD least =
        hn::Min(hn::Min(value(t.sides[0], u, v), value(t.sides[1], u, v)), value(t.sides[2], u, v));
    const auto below = hn::Gt(value(t.height, u, v), hn::Load(d, points.h.data() + i));
    const auto hit = hn::And(hn::Ge(least, hn::Zero(d)), below);
    const auto before = hn::Load(du, points.blocked.data() + i);
    hn::Store(hn::Or(before, hn::VecFromMask(du, hn::RebindMask(du, hit))), du, points.blocked.data() + i);
  }
}

void block_all(std::span<const SunTriangle> triangles, SunPoints& points) {
  const Rect& p = points.extent;
  for (const SunTriangle& t : triangles)
    if (t.extent.x_min <= p.x_max && t.extent.x_max >= p.x_min && t.extent.y_min <= p.y_max &&
        t.extent.y_max >= p.y_min && t.top >= points.lowest)
      block(t, points);
}

HWY_INLINE VD on_ray(const GridFunction& f, VD a, VD b, double slope) {
  const D d;
  const VD columns = hn::Add(hn::Mul(hn::Set(d, f.a), a), hn::Mul(hn::Set(d, f.b), b));
  return hn::Add(columns, hn::Set(d, f.slope * slope));
}

void add(const SunRay& ray, const RayGrid& grid, int row, int column, const double* distances,
         SunPoints& points) {
  const D d;
  const double slope = grid.slope[static_cast<size_t>(row)];
  const VD row_length = hn::Set(d, grid.length[static_cast<size_t>(row)]);
  for (size_t i = 0; i < RayGrid::kBlock; i += hn::Lanes(d)) {
    const size_t at = static_cast<size_t>(column) + i;
    const VD a = hn::LoadU(d, grid.a.data() + at), b = hn::LoadU(d, grid.b.data() + at);
    const VD distance = hn::LoadU(d, distances + i), length = hn::Mul(distance, row_length);
    const VD gap =
        hn::Mul(hn::Set(d, ray.gap), hn::Add(hn::Set(d, 1.0), hn::Mul(hn::Set(d, 1e-3), distance)));
    const auto along = [&](const GridFunction& axis, double lift) HWY_ATTR {
      return hn::Add(hn::Mul(length, on_ray(axis, a, b, slope)), hn::Mul(gap, hn::Set(d, lift)));
    };
    hn::StoreU(along(ray.axes[0], ray.lift.x), d, points.u.data() + points.count + i);
    hn::StoreU(along(ray.axes[1], ray.lift.y), d, points.v.data() + points.count + i);
    hn::StoreU(along(ray.axes[2], ray.lift.z), d, points.h.data() + points.count + i);
  }
  points.count += RayGrid::kBlock;
}

void bound(SunPoints& points) {
  const D d;
  VD u_min = hn::Load(d, points.u.data()), v_min = hn::Load(d, points.v.data());
  VD u_max = u_min, v_max = v_min, lowest = hn::Load(d, points.h.data());
  for (size_t i = hn::Lanes(d); i < points.count; i += hn::Lanes(d)) {
    const VD u = hn::Load(d, points.u.data() + i), v = hn::Load(d, points.v.data() + i);
    u_min = hn::Min(u_min, u), u_max = hn::Max(u_max, u);
    v_min = hn::Min(v_min, v), v_max = hn::Max(v_max, v);
    lowest = hn::Min(lowest, hn::Load(d, points.h.data() + i));
  }
  points.extent = {hn::GetLane(hn::MinOfLanes(d, u_min)), hn::GetLane(hn::MaxOfLanes(d, u_max)),
                   hn::GetLane(hn::MinOfLanes(d, v_min)), hn::GetLane(hn::MaxOfLanes(d, v_max))};
  points.lowest = hn::GetLane(hn::MinOfLanes(d, lowest));
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(block_all);
HWY_EXPORT(add);
HWY_EXPORT(bound);

constexpr double kAlongSun = 1e-12;  // of the squared size of a triangle: its area seen from the sun

}  // namespace

bool make_sun_triangle(const std::array<Vec3, 3>& corners, SunTriangle& out) {
  const auto& [a, b, c] = corners;
  const double bu = b.x - a.x, bv = b.y - a.y, cu = c.x - a.x, cv = c.y - a.y;
  const double area2 = bu * cv - bv * cu;
  const double size = std::max({std::fabs(bu), std::fabs(bv), std::fabs(cu), std::fabs(cv)});
  if (!(std::fabs(area2) > kAlongSun * size * size)) return false;
  const double side = area2 > 0 ? 1 : -1;
  for (size_t k = 0; k < 3; ++k) {
    const Vec3 &from = corners[k], &to = corners[(k + 1) % 3];
    // of the same two points in either order the same but for the sign
    out.sides[k] = {side * (from.y - to.y), side * (to.x - from.x), side * (from.x * to.y - from.y * to.x)};
  }
  const double du = ((b.z - a.z) * cv - (c.z - a.z) * bv) / area2,
               dv = ((c.z - a.z) * bu - (b.z - a.z) * cu) / area2;
  out.height = {du, dv, a.z - du * a.x - dv * a.y};
  out.extent = {std::min({a.x, b.x, c.x}), std::max({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}),
                std::max({a.y, b.y, c.y})};
  out.top = std::max({a.z, b.z, c.z});
  return true;
}

Vec3 SunRay::point(const RayGrid& grid, int row, int column, double distance) const {
  const auto r = static_cast<size_t>(row), c = static_cast<size_t>(column);
  const double length = distance * grid.length[r], above = gap * (1 + 1e-3 * distance);
  const auto along = [&](const GridFunction& f, double up) {
    return length * (f.a * grid.a[c] + f.b * grid.b[c] + f.slope * grid.slope[r]) + above * up;
  };
  return {along(axes[0], lift.x), along(axes[1], lift.y), along(axes[2], lift.z)};
}

void add_block(const SunRay& ray, const RayGrid& grid, int row, int column, const double* distances,
               SunPoints& points) {
  HWY_DYNAMIC_DISPATCH(add)(ray, grid, row, column, distances, points);
}

void enclose(SunPoints& points) {
  const size_t last = points.count - 1;
  for (size_t i = points.count; i < SunPoints::kMost && i % RayGrid::kBlock != 0; ++i)
    points.u[i] = points.u[last], points.v[i] = points.v[last], points.h[i] = points.h[last];
  HWY_DYNAMIC_DISPATCH(bound)(points);
}

void block_points(std::span<const SunTriangle> triangles, SunPoints& points) {
  HWY_DYNAMIC_DISPATCH(block_all)(triangles, points);
}

}  // namespace mvsim
#endif
