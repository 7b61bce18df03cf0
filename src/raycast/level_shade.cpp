#include "raycast/level_rays.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/level_shade.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Few = hn::Rebind<float, D>;  // as many columns as a vector of doubles has
using Many = hn::ScalableTag<float>;

// Slopes between which the face lies in the shade.
template <typename F>
struct Shade {
  hn::Vec<F> low, high;
};

HWY_INLINE Shade<Few> shade_few(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster,
                                const LevelSun& sun, int c) {
  const D d;
  const auto dx = hn::LoadU(d, rays.dx.data() + c), dy = hn::LoadU(d, rays.dy.data() + c);
  const auto zero = hn::Zero(d), big = hn::Set(d, kBeyond);
  const auto per_t = hn::Add(hn::Mul(hn::Set(d, face.plane.x), dx), hn::Mul(hn::Set(d, face.plane.y), dy));
  const auto t = hn::Div(hn::Set(d, 1.0), hn::Max(per_t, hn::Set(d, 1e-30)));
  const auto x = hn::Mul(t, dx), y = hn::Mul(t, dy);
  auto enter = zero, leave = big;
  for (size_t i = 0; i < caster.outline.size(); ++i) {
    const Vec2 a = caster.outline[i], along = caster.outline[i + 1 == caster.outline.size() ? 0 : i + 1] - a;
    const Vec2 normal{along.y, -along.x};
    const double towards = dot(normal, sun.to_sun);
    const auto room = hn::Sub(hn::Set(d, dot(normal, a)),
                              hn::Add(hn::Mul(hn::Set(d, normal.x), x), hn::Mul(hn::Set(d, normal.y), y)));
    if (towards > 0)
      leave = hn::Min(leave, hn::Mul(room, hn::Set(d, 1 / towards)));
    else if (towards < 0)
      enter = hn::Max(enter, hn::Mul(room, hn::Set(d, 1 / towards)));
    else
      leave = hn::IfThenElse(hn::Lt(room, zero), hn::Neg(big), leave);
  }
  const auto rise = hn::Set(d, sun.rise);
  const auto low = hn::Mul(hn::Sub(hn::Set(d, caster.low), hn::Mul(leave, rise)), per_t);
  const auto high = hn::Mul(hn::Sub(hn::Set(d, caster.high), hn::Mul(enter, rise)), per_t);
  const auto met = hn::And(hn::Lt(enter, leave), hn::Gt(per_t, zero));
  const auto as_floats = [&](auto v)
                             HWY_ATTR { return hn::DemoteTo(Few(), hn::Max(hn::Min(v, big), hn::Neg(big))); };
  return {as_floats(hn::IfThenElse(met, low, big)), as_floats(hn::IfThenElse(met, high, hn::Neg(big)))};
}

template <typename F>
HWY_INLINE Shade<F> shade_at(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster,
                             const LevelSun& sun, int c) {
  const Shade<Few> first = shade_few(rays, face, caster, sun, c);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(F()) > hn::MaxLanes(Few())) {
    const Shade<Few> then = shade_few(rays, face, caster, sun, c + static_cast<int>(hn::Lanes(Few())));
    return {hn::Combine(F(), then.low, first.low), hn::Combine(F(), then.high, first.high)};
  }
#endif
  if constexpr (hn::MaxLanes(F()) == hn::MaxLanes(Few())) return first;
}

template <typename F>
HWY_INLINE void shade_columns(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster,
                              const LevelSun& sun, ColumnRange columns, LevelPicture& picture) {
  const F f;
  const hn::RebindToSigned<F> i;
  const auto name = hn::Set(i, face.name), shaded = hn::Set(i, face.name | kShaded);
  for (int c = columns.begin; c < columns.end; c += static_cast<int>(hn::Lanes(f))) {
    const Shade<F> shade = shade_at<F>(rays, face, caster, sun, c);
    const LevelRays::Rows rows = rays.rows_between(hn::GetLane(hn::MinOfLanes(f, shade.low)),
                                                   hn::GetLane(hn::MaxOfLanes(f, shade.high)));
    for (int r = rows.begin; r < rows.end; ++r) {
      const auto slope = hn::Set(f, rays.slopes[static_cast<size_t>(r)]);
      int32_t* const names = picture.name.data() + static_cast<size_t>(r) * static_cast<size_t>(rays.stride) +
                             static_cast<size_t>(c);
      const auto before = hn::LoadU(i, names);
      const auto inside = hn::And(hn::Gt(slope, shade.low), hn::Lt(slope, shade.high));
      const auto turns = hn::And(hn::RebindMask(i, inside), hn::Eq(before, name));
      hn::StoreU(hn::IfThenElse(turns, shaded, before), i, names);
    }
  }
}

void shade(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster, const LevelSun& sun,
           ColumnRange columns, LevelPicture& picture) {
  if (columns.end - columns.begin <= static_cast<int>(hn::Lanes(Few())))
    shade_columns<Few>(rays, face, caster, sun, columns, picture);
  else
    shade_columns<Many>(rays, face, caster, sun, columns, picture);
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(shade);

}  // namespace

void shade_face(const LevelRays& rays, const SeenFace& face, const SeenPrism& caster, const LevelSun& sun,
                ColumnRange columns, LevelPicture& picture) {
  const ColumnRange within{std::max(columns.begin, 0), std::min(columns.end, rays.width)};
  if (within.begin < within.end) HWY_DYNAMIC_DISPATCH(shade)(rays, face, caster, sun, within, picture);
}

void sweep(std::span<const Vec2> outline, Vec2 way, double start, double end, Polygon& out) {
  out.clear();
  const size_t n = outline.size();
  const auto leads = [&](size_t i) {  // whether the side from vertex i on looks ahead
    const Vec2 along = outline[i + 1 == n ? 0 : i + 1] - outline[i];
    return dot(Vec2{along.y, -along.x}, way) > 0;
  };
  bool before = leads(n - 1);
  for (size_t i = 0; i < n; ++i) {
    const bool after = leads(i);
    out.push_back(outline[i] + (before ? end : start) * way);
    if (after != before) out.push_back(outline[i] + (after ? end : start) * way);
    before = after;
  }
}

}  // namespace mvsim
#endif
