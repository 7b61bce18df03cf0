#include "raycast/level_rays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "raycast/prism_map.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/level_rays.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef MVSIM_LEVEL_RAYS_SHARED
#define MVSIM_LEVEL_RAYS_SHARED
namespace mvsim {

// The sides of a prism as planes m . d = 1 / t of a ray along d, sorted into those that the eye is outside
// and inside of.
struct PrismPlanes {
  std::array<Vec2, kMaxPrismSides + 2> front, back;  // two more for shadows
  std::array<int32_t, kMaxPrismSides + 2> front_side;
  size_t fronts = 0, backs = 0;
};

}  // namespace mvsim
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using H = hn::Rebind<float, D>;  // as many floats
using F = hn::ScalableTag<float>;
using I = hn::Rebind<int32_t, D>;
using VD = hn::Vec<D>;

HWY_INLINE void store_as_floats(VD v, float* out) {
  const D d;
  const VD bounded = hn::Max(hn::Min(v, hn::Set(d, kBeyond)), hn::Set(d, -kBeyond));
  hn::StoreU(hn::DemoteTo(H(), bounded), H(), out);
}

// Where columns from c on, as many as a vector has lanes, meet the sides: distance, and the slopes of foot
// and head there; `top`: the slope at which they leave the surface that is seen.
HWY_INLINE void meet_columns(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, int c,
                             LevelPicture& picture) {
  const D d;
  const VD dx = hn::LoadU(d, rays.dx.data() + c), dy = hn::LoadU(d, rays.dy.data() + c);
  const auto product = [&](Vec2 m) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Set(d, m.x), dx), hn::Mul(hn::Set(d, m.y), dy));
  };
  VD enter = hn::Set(d, kBeyond), side = hn::Zero(d);
  for (size_t i = 0; i < planes.fronts; ++i) {
    const VD u = product(planes.front[i]);
    if (prism.name_step != 0)
      side = hn::IfThenElse(hn::Lt(u, enter), hn::Set(d, static_cast<double>(planes.front_side[i])), side);
    enter = hn::Min(enter, u);
  }
  VD leave = hn::Zero(d);
  for (size_t i = 0; i < planes.backs; ++i) leave = hn::Max(leave, product(planes.back[i]));
  const auto met = hn::And(hn::Gt(enter, hn::Zero(d)), hn::Ge(enter, leave));
  const VD a = hn::Set(d, prism.low), b = hn::Set(d, prism.high), none = hn::Set(d, kBeyond);
  store_as_floats(hn::IfThenElse(met, hn::Div(hn::Set(d, 1.0), enter), none), picture.at.data() + c);
  store_as_floats(hn::IfThenElse(met, hn::Mul(a, enter), none), picture.low.data() + c);
  store_as_floats(hn::IfThenElse(met, hn::Mul(b, enter), hn::Neg(none)), picture.high.data() + c);
  if (prism.high < 0)
    store_as_floats(hn::IfThenElse(met, hn::Mul(b, leave), hn::Neg(none)), picture.top.data() + c);
  else if (prism.low > 0)
    store_as_floats(hn::IfThenElse(met, hn::Mul(a, leave), none), picture.top.data() + c);
  if (prism.name_step != 0) hn::StoreU(hn::DemoteTo(I(), side), I(), picture.side.data() + c);
}

// The pixels of a row from column c on that lie in `inside` and are nearer there.
template <typename Mask, typename Name>
HWY_INLINE void merge(const LevelRays& rays, LevelPicture& picture, int row, int c, Mask inside,
                      hn::Vec<F> distance, Name name) {
  const F f;
  const hn::RebindToSigned<F> i;
  const size_t at = static_cast<size_t>(row) * static_cast<size_t>(rays.stride) + static_cast<size_t>(c);
  float* const pixels = picture.distance.data() + at;
  const auto before = hn::LoadU(f, pixels);
  const auto nearer =
      hn::And(inside, hn::And(hn::Lt(distance, before), hn::Ge(distance, hn::Set(f, rays.near))));
  hn::StoreU(hn::IfThenElse(nearer, distance, before), f, pixels);
  if (picture.name.empty()) return;
  int32_t* const names = picture.name.data() + at;
  hn::StoreU(hn::IfThenElse(hn::RebindMask(i, nearer), name, hn::LoadU(i, names)), i, names);
}

HWY_INLINE void merge_sides(const LevelRays& rays, const SeenPrism& prism, int c, LevelPicture& picture) {
  const F f;
  const hn::RebindToSigned<F> i;
  const auto low = hn::LoadU(f, picture.low.data() + c), high = hn::LoadU(f, picture.high.data() + c);
  const auto at = hn::LoadU(f, picture.at.data() + c);
  const LevelRays::Rows rows =
      rays.rows_between(hn::GetLane(hn::MinOfLanes(f, low)), hn::GetLane(hn::MaxOfLanes(f, high)));
  auto name = hn::Set(i, prism.name);
  if (prism.name_step != 0)
    name = hn::Add(name, hn::Mul(hn::Add(hn::LoadU(i, picture.side.data() + c), hn::Set(i, 2)),
                                 hn::Set(i, prism.name_step)));
  for (int r = rows.begin; r < rows.end; ++r) {
    const auto slope = hn::Set(f, rays.slopes[static_cast<size_t>(r)]);
    merge(rays, picture, r, c, hn::And(hn::Ge(slope, low), hn::Le(slope, high)),
          hn::Mul(at, hn::Set(f, rays.scales[static_cast<size_t>(r)])), name);
  }
  if (!prism.stands) return;
  // closed as far as it is seen
  float* const closed = picture.closed_slope.data() + c;
  float* const closed_at = picture.closed_at.data() + c;
  const auto closes = hn::And(hn::And(hn::Gt(high, hn::LoadU(f, closed)), hn::Le(low, high)),
                              hn::Ge(at, hn::Set(f, rays.near)));
  hn::StoreU(hn::IfThenElse(closes, high, hn::LoadU(f, closed)), f, closed);
  hn::StoreU(hn::IfThenElse(closes, at, hn::LoadU(f, closed_at)), f, closed_at);
}

// Of a row from column c on, what lies in `inside` and is named so turns shaded.
template <typename Mask>
HWY_INLINE void shade(const LevelRays& rays, LevelPicture& picture, int row, int c, Mask inside,
                      hn::Vec<hn::RebindToSigned<F>> name) {
  const hn::RebindToSigned<F> i;
  int32_t* const names = picture.name.data() + static_cast<size_t>(row) * static_cast<size_t>(rays.stride) +
                         static_cast<size_t>(c);
  const auto before = hn::LoadU(i, names);
  const auto turns = hn::And(hn::RebindMask(i, inside), hn::Eq(before, name));
  hn::StoreU(hn::IfThenElse(turns, hn::Or(before, hn::Set(i, kShaded)), before), i, names);
}

// The top from above, or the bottom from below; kShades: what it is called is shaded there.
template <bool kShades>
HWY_INLINE void merge_level(const LevelRays& rays, double height, int32_t face_name, int c,
                            LevelPicture& picture) {
  const F f;
  const hn::RebindToSigned<F> i;
  const bool is_top = height < 0;
  const auto met = hn::Lt(hn::LoadU(f, picture.at.data() + c), hn::Set(f, static_cast<float>(kBeyond)));
  const auto end = hn::LoadU(f, picture.top.data() + c);
  const auto begin = hn::LoadU(f, (is_top ? picture.high : picture.low).data() + c);
  const auto never = hn::Set(f, static_cast<float>(kBeyond));
  const auto low = hn::IfThenElse(met, is_top ? begin : end, never);
  const auto high = hn::IfThenElse(met, is_top ? end : begin, hn::Neg(never));
  const LevelRays::Rows rows =
      rays.rows_between(hn::GetLane(hn::MinOfLanes(f, low)), hn::GetLane(hn::MaxOfLanes(f, high)));
  const auto name = hn::Set(i, face_name);
  for (int r = rows.begin; r < rows.end; ++r) {
    const auto distance = static_cast<float>(height * rays.per_height[static_cast<size_t>(r)]);
    if (!(distance >= rays.near && distance <= rays.far)) continue;
    const auto slope = hn::Set(f, rays.slopes[static_cast<size_t>(r)]);
    const auto inside = is_top ? hn::And(hn::Gt(slope, low), hn::Le(slope, high))
                               : hn::And(hn::Ge(slope, low), hn::Lt(slope, high));
    if constexpr (kShades)
      shade(rays, picture, r, c, inside, name);
    else
      merge(rays, picture, r, c, inside, hn::Set(f, distance), name);
  }
}

void see(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, ColumnRange columns,
         LevelPicture& picture) {
  const int lanes = static_cast<int>(hn::Lanes(D())), wide = static_cast<int>(hn::Lanes(F()));
  static_assert(hn::MaxLanes(F()) <= LevelRays::kPadding);
  const bool sides = planes.fronts > 0 && (prism.faces & kSides) != 0 && prism.high > prism.low;
  const bool top = prism.high < 0 && (prism.faces & kTop) != 0;
  const bool bottom = prism.low > 0 && (prism.faces & kBottom) != 0;
  if (!sides && !top && !bottom) return;
  for (int c = columns.begin; c < columns.end; c += wide) {
    for (int k = 0; k < wide; k += lanes) meet_columns(rays, prism, planes, c + k, picture);
    if (sides) merge_sides(rays, prism, c, picture);
    if (top) merge_level<false>(rays, prism.high, prism.name, c, picture);
    if (bottom) merge_level<false>(rays, prism.low, prism.name + prism.name_step, c, picture);
  }
}

void see_shade(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, ColumnRange columns,
               LevelPicture& picture) {
  const int lanes = static_cast<int>(hn::Lanes(D())), wide = static_cast<int>(hn::Lanes(F()));
  for (int c = columns.begin; c < columns.end; c += wide) {
    for (int k = 0; k < wide; k += lanes) meet_columns(rays, prism, planes, c + k, picture);
    merge_level<true>(rays, prism.high, prism.name, c, picture);
  }
}

bool closed(const float* slopes, const float* distances, int count, float slope, float at) {
  const F f;
  const int lanes = static_cast<int>(hn::Lanes(f));
  const auto wanted = hn::Set(f, slope), beyond = hn::Set(f, at);
  for (int c = 0; c < count; c += lanes) {
    const auto open =
        hn::Or(hn::Lt(hn::LoadU(f, slopes + c), wanted), hn::Gt(hn::LoadU(f, distances + c), beyond));
    const auto counts = hn::FirstN(f, static_cast<size_t>(std::min(lanes, count - c)));
    if (!hn::AllFalse(f, hn::And(open, counts))) return false;
  }
  return true;
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(see);
HWY_EXPORT(see_shade);
HWY_EXPORT(closed);

constexpr double kTolerance = 1e-9;  // m; closes the seam between prisms that share an edge

PrismPlanes planes_of(std::span<const Vec2> outline) {
  PrismPlanes planes;
  for (size_t i = 0; i < outline.size(); ++i) {
    const Vec2 a = outline[i], along = outline[i + 1 == outline.size() ? 0 : i + 1] - a;
    const Vec2 normal{along.y, -along.x};
    const double offset = dot(normal, a),
                 tolerance = kTolerance * (std::fabs(normal.x) + std::fabs(normal.y));
    if (tolerance == 0) continue;  // a side without length
    if (offset < -tolerance) {
      planes.front_side[planes.fronts] = static_cast<int32_t>(i);
      planes.front[planes.fronts++] = (1 / offset) * normal;
    } else {
      planes.back[planes.backs++] = (1 / (offset + tolerance)) * normal;
    }
  }
  return planes;
}

}  // namespace

LevelRays::LevelRays(std::vector<Vec2> directions, std::span<const double> row_slopes,
                     std::span<const double> row_scales, float near_limit, float far_limit)
    : width(static_cast<int>(directions.size())),
      height(static_cast<int>(row_slopes.size())),
      stride((width + kPadding - 1) / kPadding * kPadding + kPadding),
      slopes(row_slopes.begin(), row_slopes.end()),
      scales(row_scales.begin(), row_scales.end()),
      near(near_limit),
      far(far_limit) {
  directions.resize(static_cast<size_t>(stride));
  for (const Vec2 v : directions) {
    dx.push_back(v.x);
    dy.push_back(v.y);
  }
  for (size_t r = 0; r < row_slopes.size(); ++r) per_height.push_back(row_scales[r] / row_slopes[r]);
  ascending_ = slopes.front() <= slopes.back();
  if (height < 2) return;
  const double step = (row_slopes.back() - row_slopes.front()) / (height - 1);
  uniform_ = step != 0;
  for (size_t r = 0; r < row_slopes.size(); ++r)
    uniform_ = uniform_ && std::fabs(row_slopes.front() + static_cast<double>(r) * step - row_slopes[r]) <
                               1e-3 * std::fabs(step);
  first_ = slopes.front();
  per_slope_ = static_cast<float>(1 / step);
  uniform_ = uniform_ && std::isfinite(first_) && std::isfinite(per_slope_);
}

LevelRays::Rows LevelRays::rows_between(float low, float high) const {
  if (!(low <= high)) return {};
  if (uniform_) {
    const float one = (low - first_) * per_slope_, other = (high - first_) * per_slope_;
    const auto last = static_cast<float>(height);
    const auto begin = static_cast<int>(std::clamp(std::min(one, other) - 0.5F, 0.0F, last));
    const auto end = static_cast<int>(std::clamp(std::max(one, other) + 1.5F, 0.0F, last));
    return {begin, end};
  }
  if (ascending_)
    return {static_cast<int>(std::lower_bound(slopes.begin(), slopes.end(), low) - slopes.begin()),
            static_cast<int>(std::upper_bound(slopes.begin(), slopes.end(), high) - slopes.begin())};
  const std::greater<> down;
  return {static_cast<int>(std::lower_bound(slopes.begin(), slopes.end(), high, down) - slopes.begin()),
          static_cast<int>(std::upper_bound(slopes.begin(), slopes.end(), low, down) - slopes.begin())};
}

void see_prism(const LevelRays& rays, const SeenPrism& prism, ColumnRange columns, LevelPicture& picture) {
  const ColumnRange within{std::max(columns.begin, 0), std::min(columns.end, rays.width)};
  if (within.begin >= within.end || prism.outline.size() > kMaxPrismSides) return;
  HWY_DYNAMIC_DISPATCH(see)(rays, prism, planes_of(prism.outline), within, picture);
}

void shade_level(const LevelRays& rays, std::span<const Vec2> outline, double height, int32_t name,
                 ColumnRange columns, LevelPicture& picture) {
  const ColumnRange within{std::max(columns.begin, 0), std::min(columns.end, rays.width)};
  if (within.begin >= within.end || !(height < 0) || outline.size() > kMaxPrismSides + 2) return;
  const SeenPrism shadow{.outline = outline, .low = height, .high = height, .faces = kTop, .name = name};
  HWY_DYNAMIC_DISPATCH(see_shade)(rays, shadow, planes_of(outline), within, picture);
}

bool are_closed(const LevelPicture& picture, ColumnRange columns, float slope, float at) {
  return HWY_DYNAMIC_DISPATCH(closed)(picture.closed_slope.data() + columns.begin,
                                      picture.closed_at.data() + columns.begin, columns.end - columns.begin,
                                      slope, at);
}

}  // namespace mvsim
#endif
