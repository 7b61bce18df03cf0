#include "raycast/level_rays.h"

#include <array>
#include <cmath>

#include "raycast/prism_map.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/level_rays.cpp"
#include "base/highway_targets.h"

#ifndef MVSIM_LEVEL_RAYS_SHARED
#define MVSIM_LEVEL_RAYS_SHARED
namespace mvsim {

// The sides of a prism as planes m . d = 1 / t of a ray along d, sorted into those that the eye is outside
// and inside of.
struct PrismPlanes {
  struct Plane {  // a Vec2 without initialisation
    double x, y;
  };
  std::array<Plane, kMaxPrismSides + 2> front, back;  // two more for shadows
  std::array<int32_t, kMaxPrismSides + 2> front_side;
  size_t fronts = 0, backs = 0;
};

}  // namespace mvsim
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Few = hn::Rebind<float, D>;  // as many columns as a vector of doubles has
using Many = hn::ScalableTag<float>;
using VD = hn::Vec<D>;
constexpr float kNever = static_cast<float>(kBeyond);

// Where columns meet the sides: distance, and the slopes of foot and head there; `level`: the slope at which
// they leave the surface that is seen.
template <typename F>
struct Meeting {
  hn::Vec<F> at, low, high, level;
  hn::Vec<hn::RebindToSigned<F>> side;
};

HWY_INLINE hn::Vec<Few> as_floats(VD v) {
  const D d;
  return hn::DemoteTo(Few(), hn::Max(hn::Min(v, hn::Set(d, kBeyond)), hn::Set(d, -kBeyond)));
}

template <bool kNames>
HWY_INLINE Meeting<Few> meet_few(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes,
                                 int c) {
  const D d;
  const VD dx = hn::LoadU(d, rays.dx.data() + c), dy = hn::LoadU(d, rays.dy.data() + c);
  const auto product = [&](const PrismPlanes::Plane& m) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Set(d, m.x), dx), hn::Mul(hn::Set(d, m.y), dy));
  };
  VD enter = hn::Set(d, kBeyond), side = hn::Zero(d);
  for (size_t i = 0; i < planes.fronts; ++i) {
    const VD u = product(planes.front[i]);
    if constexpr (kNames)
      side = hn::IfThenElse(hn::Lt(u, enter), hn::Set(d, static_cast<double>(planes.front_side[i])), side);
    enter = hn::Min(enter, u);
  }
  VD leave = hn::Zero(d);
  for (size_t i = 0; i < planes.backs; ++i) leave = hn::Max(leave, product(planes.back[i]));
  const auto met = hn::And(hn::Gt(enter, hn::Zero(d)), hn::Ge(enter, leave));
  const VD a = hn::Set(d, prism.low), b = hn::Set(d, prism.high), none = hn::Set(d, kBeyond);
  Meeting<Few> out;
  out.at = as_floats(hn::IfThenElse(met, hn::Div(hn::Set(d, 1.0), enter), none));
  out.low = as_floats(hn::IfThenElse(met, hn::Mul(a, enter), none));
  out.high = as_floats(hn::IfThenElse(met, hn::Mul(b, enter), hn::Neg(none)));
  if (prism.high < 0)
    out.level = as_floats(hn::IfThenElse(met, hn::Mul(b, leave), hn::Neg(none)));
  else
    out.level = as_floats(hn::IfThenElse(met, hn::Mul(a, leave), none));
  out.side = hn::DemoteTo(hn::RebindToSigned<Few>(), side);
  return out;
}

// Meets the rays of the columns from c on with the prism, as many columns as F has lanes.
template <typename F, bool kNames>
HWY_INLINE Meeting<F> meet(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, int c) {
  const Meeting<Few> first = meet_few<kNames>(rays, prism, planes, c);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(F()) > hn::MaxLanes(Few())) {
    const Meeting<Few> then = meet_few<kNames>(rays, prism, planes, c + static_cast<int>(hn::Lanes(Few())));
    const F f;
    const hn::RebindToSigned<F> i;
    return {hn::Combine(f, then.at, first.at), hn::Combine(f, then.low, first.low),
            hn::Combine(f, then.high, first.high), hn::Combine(f, then.level, first.level),
            hn::Combine(i, then.side, first.side)};
  }
#endif
  if constexpr (hn::MaxLanes(F()) == hn::MaxLanes(Few())) return first;
}

template <typename F>
HWY_INLINE LevelRays::Rows rows_of(const LevelRays& rays, hn::Vec<F> low, hn::Vec<F> high) {
  const F f;
  return rays.rows_between(hn::GetLane(hn::MinOfLanes(f, low)), hn::GetLane(hn::MaxOfLanes(f, high)));
}

HWY_INLINE size_t index_of(const LevelRays& rays, int row, int c) {
  return static_cast<size_t>(row) * static_cast<size_t>(rays.stride) + static_cast<size_t>(c);
}

// The pixels from `at` on that lie in `inside` and are nearer there; returns which.
template <typename F, bool kNames>
HWY_INLINE hn::Mask<F> merge(LevelPicture& picture, size_t at, hn::Mask<F> inside, hn::Vec<F> distance,
                             hn::Vec<hn::RebindToSigned<F>> name) {
  const F f;
  const hn::RebindToSigned<F> i;
  float* const pixels = picture.distance.data() + at;
  const auto before = hn::LoadU(f, pixels);
  const auto nearer =
      hn::And(inside, hn::And(hn::Lt(distance, before), hn::Ge(distance, hn::Set(f, picture.near))));
  hn::StoreU(hn::IfThenElse(nearer, distance, before), f, pixels);
  if constexpr (kNames) {
    int32_t* const names = picture.name.data() + at;
    hn::StoreU(hn::IfThenElse(hn::RebindMask(i, nearer), name, hn::LoadU(i, names)), i, names);
  }
  return nearer;
}

template <typename F, bool kNames>
HWY_INLINE hn::Mask<F> merge_sides(const LevelRays& rays, const SeenPrism& prism, const Meeting<F>& m, int c,
                                   LevelPicture& picture) {
  const F f;
  const hn::RebindToSigned<F> i;
  auto name = hn::Set(i, prism.name);
  if constexpr (kNames)
    name = hn::Add(name, hn::Mul(hn::Add(m.side, hn::Set(i, 2)), hn::Set(i, prism.name_step)));
  auto any = hn::FirstN(f, 0);
  const LevelRays::Rows rows = rows_of<F>(rays, m.low, m.high);
  for (int r = rows.begin; r < rows.end; ++r) {
    const auto slope = hn::Set(f, rays.slopes[static_cast<size_t>(r)]);
    any = hn::Or(any, merge<F, kNames>(picture, index_of(rays, r, c),
                                       hn::And(hn::Ge(slope, m.low), hn::Le(slope, m.high)),
                                       hn::Mul(m.at, hn::Set(f, rays.scales[static_cast<size_t>(r)])), name));
  }
  if (!prism.stands) return any;
  // closed as far as it is seen
  float* const closed = picture.closed_slope.data() + c;
  float* const closed_at = picture.closed_at.data() + c;
  const auto closes = hn::And(hn::And(hn::Gt(m.high, hn::LoadU(f, closed)), hn::Le(m.low, m.high)),
                              hn::Ge(m.at, hn::Set(f, picture.near)));
  hn::StoreU(hn::IfThenElse(closes, m.high, hn::LoadU(f, closed)), f, closed);
  hn::StoreU(hn::IfThenElse(closes, m.at, hn::LoadU(f, closed_at)), f, closed_at);
  return any;
}

// Calls at(row, distance, inside) for the rows that see the top from above, or the bottom from below.
template <typename F, typename At>
HWY_INLINE void for_level_rows(const LevelRays& rays, double height, const Meeting<F>& m,
                               const LevelPicture& picture, const At& at) {
  const F f;
  const bool is_top = height < 0;
  const auto never = hn::Set(f, kNever);
  const auto met = hn::Lt(m.at, never);
  const auto low = hn::IfThenElse(met, is_top ? m.high : m.level, never);
  const auto high = hn::IfThenElse(met, is_top ? m.level : m.low, hn::Neg(never));
  const LevelRays::Rows rows = rows_of<F>(rays, low, high);
  for (int r = rows.begin; r < rows.end; ++r) {
    const auto distance = static_cast<float>(height * rays.per_height[static_cast<size_t>(r)]);
    if (!(distance >= picture.near && distance <= picture.far)) continue;
    const auto slope = hn::Set(f, rays.slopes[static_cast<size_t>(r)]);
    at(r, distance,
       is_top ? hn::And(hn::Gt(slope, low), hn::Le(slope, high))
              : hn::And(hn::Ge(slope, low), hn::Lt(slope, high)));
  }
}

template <typename F, bool kNames>
HWY_INLINE hn::Mask<F> merge_level(const LevelRays& rays, double height, int32_t face_name,
                                   const Meeting<F>& m, int c, LevelPicture& picture) {
  const F f;
  const auto name = hn::Set(hn::RebindToSigned<F>(), face_name);
  auto any = hn::FirstN(f, 0);
  for_level_rows<F>(rays, height, m, picture, [&](int row, float distance, hn::Mask<F> inside) HWY_ATTR {
    any = hn::Or(any, merge<F, kNames>(picture, index_of(rays, row, c), inside, hn::Set(f, distance), name));
  });
  return any;
}

template <typename F, bool kNames>
HWY_INLINE bool see_columns(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes,
                            ColumnRange columns, LevelPicture& picture) {
  const F f;
  const bool sides = planes.fronts > 0 && (prism.faces & kSides) != 0 && prism.high > prism.low;
  const bool top = prism.high < 0 && (prism.faces & kTop) != 0;
  const bool bottom = prism.low > 0 && (prism.faces & kBottom) != 0;
  if (!sides && !top && !bottom) return false;
  auto any = hn::FirstN(f, 0);
  for (int c = columns.begin; c < columns.end; c += static_cast<int>(hn::Lanes(f))) {
    const Meeting<F> m = meet<F, kNames>(rays, prism, planes, c);
    if (sides) any = hn::Or(any, merge_sides<F, kNames>(rays, prism, m, c, picture));
    if (top) any = hn::Or(any, merge_level<F, kNames>(rays, prism.high, prism.name, m, c, picture));
    if (bottom)
      any = hn::Or(any, merge_level<F, kNames>(rays, prism.low, prism.name + prism.name_step, m, c, picture));
  }
  return !hn::AllFalse(f, any);
}

bool see(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, ColumnRange columns,
         LevelPicture& picture) {
  static_assert(hn::MaxLanes(Many()) <= LevelRays::kPadding);
  const bool few = columns.end - columns.begin <= static_cast<int>(hn::Lanes(Few()));
  if (picture.name.empty())
    return few ? see_columns<Few, false>(rays, prism, planes, columns, picture)
               : see_columns<Many, false>(rays, prism, planes, columns, picture);
  return few ? see_columns<Few, true>(rays, prism, planes, columns, picture)
             : see_columns<Many, true>(rays, prism, planes, columns, picture);
}

// Marks pixels with the prism's name as shaded where they lie within the prism's top.
template <typename F>
HWY_INLINE void shade_columns(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes,
                              ColumnRange columns, LevelPicture& picture) {
  const F f;
  const hn::RebindToSigned<F> i;
  const auto name = hn::Set(i, prism.name);
  for (int c = columns.begin; c < columns.end; c += static_cast<int>(hn::Lanes(f))) {
    const Meeting<F> m = meet<F, false>(rays, prism, planes, c);
    for_level_rows<F>(rays, prism.high, m, picture, [&](int row, float, hn::Mask<F> inside) HWY_ATTR {
      int32_t* const names = picture.name.data() + index_of(rays, row, c);
      const auto before = hn::LoadU(i, names);
      const auto turns = hn::And(hn::RebindMask(i, inside), hn::Eq(before, name));
      hn::StoreU(hn::IfThenElse(turns, hn::Or(before, hn::Set(i, kShaded)), before), i, names);
    });
  }
}

void see_shade(const LevelRays& rays, const SeenPrism& prism, const PrismPlanes& planes, ColumnRange columns,
               LevelPicture& picture) {
  if (columns.end - columns.begin <= static_cast<int>(hn::Lanes(Few())))
    shade_columns<Few>(rays, prism, planes, columns, picture);
  else
    shade_columns<Many>(rays, prism, planes, columns, picture);
}

bool closed(const float* slopes, const float* distances, int count, float slope, float at) {
  const Many f;
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

constexpr size_t kBinsPerRow = 4;
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
      const double scale = 1 / offset;
      planes.front[planes.fronts++] = {scale * normal.x, scale * normal.y};
    } else {
      const double scale = 1 / (offset + tolerance);
      planes.back[planes.backs++] = {scale * normal.x, scale * normal.y};
    }
  }
  return planes;
}

}  // namespace

LevelRays::LevelRays(std::vector<Vec2> directions, std::span<const double> row_slopes,
                     std::span<const double> row_scales)
    : width(static_cast<int>(directions.size())),
      height(static_cast<int>(row_slopes.size())),
      stride((width + kPadding - 1) / kPadding * kPadding + kPadding),
      slopes(row_slopes.begin(), row_slopes.end()),
      scales(row_scales.begin(), row_scales.end()) {
  directions.resize(static_cast<size_t>(stride));
  for (const Vec2 v : directions) {
    dx.push_back(v.x);
    dy.push_back(v.y);
    dx_float.push_back(static_cast<float>(v.x));
    dy_float.push_back(static_cast<float>(v.y));
  }
  for (size_t r = 0; r < row_slopes.size(); ++r) per_height.push_back(row_scales[r] / row_slopes[r]);
  ascending_ = slopes.front() <= slopes.back();
  lowest_ = std::min(slopes.front(), slopes.back());
  const float range = std::max(slopes.front(), slopes.back()) - lowest_;
  const auto bins = kBinsPerRow * slopes.size();
  per_slope_ = range > 0 ? static_cast<float>(bins) / range : 0;
  if (!std::isfinite(per_slope_)) per_slope_ = 0;
  first_row_.resize(bins);
  end_row_.resize(bins);
  for (size_t bin = 0; bin < bins; ++bin) {
    const auto is_before = [&](float slope) {
      return ascending_ ? bin_of(slope) < bin : bin_of(slope) > bin;
    };
    const auto is_not_beyond = [&](float slope) {
      return ascending_ ? bin_of(slope) <= bin : bin_of(slope) >= bin;
    };
    first_row_[bin] = static_cast<int>(std::ranges::partition_point(slopes, is_before) - slopes.begin());
    end_row_[bin] = static_cast<int>(std::ranges::partition_point(slopes, is_not_beyond) - slopes.begin());
  }
}

bool see_prism(const LevelRays& rays, const SeenPrism& prism, ColumnRange columns, LevelPicture& picture) {
  const ColumnRange within{std::max(columns.begin, 0), std::min(columns.end, rays.width)};
  if (within.begin >= within.end || prism.outline.size() > kMaxPrismSides) return false;
  return HWY_DYNAMIC_DISPATCH(see)(rays, prism, planes_of(prism.outline), within, picture);
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
