#include "base/vector_kernels.h"

#include <algorithm>

#include "base/geometry.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/vector_kernels.cpp"
#include "base/highway_targets.h"

#include <hwy/contrib/algo/transform-inl.h>

#include "base/vector_math.h"

#ifndef MVSIM_BASE_VECTOR_KERNELS_ONCE
#define MVSIM_BASE_VECTOR_KERNELS_ONCE
namespace mvsim {

// The scalar forms, for the last few values.
inline void scalar_turn(double angle, float& dx, float& dy) {
  const Vec2 d = Rotation2(angle).rotate({dx, dy});
  dx = static_cast<float>(d.x);
  dy = static_cast<float>(d.y);
}

inline void scalar_disturb(double noise, float no_return, float max_range, float& range) {
  const float noisy = static_cast<float>(range + noise);
  range = range < no_return ? std::clamp(noisy, 0.0f, max_range) : max_range;
}

inline void scalar_disturb_return(double noise, float low, float high, bool keeps_high, float& distance) {
  if (distance == 0) return;
  const auto noisy = static_cast<float>(distance + noise);
  if (noisy > high || (noisy == high && !keeps_high))
    distance = keeps_high ? distance : 0;
  else
    distance = noisy > low ? noisy : 0;
}

}  // namespace mvsim
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {

void turn(double sigma, const double* deviates, size_t count, float* dx, float* dy) {
  const D dd;
  const H dh;
  const size_t lanes = hn::Lanes(dd);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VectorSinCos r = sin_cos_lanes(hn::Mul(constant(sigma), hn::LoadU(dd, deviates + i)));
    const VD x = hn::PromoteTo(dd, hn::LoadU(dh, dx + i)), y = hn::PromoteTo(dd, hn::LoadU(dh, dy + i));
    hn::StoreU(hn::DemoteTo(dh, hn::Sub(hn::Mul(r.cos, x), hn::Mul(r.sin, y))), dh, dx + i);
    hn::StoreU(hn::DemoteTo(dh, hn::Add(hn::Mul(r.sin, x), hn::Mul(r.cos, y))), dh, dy + i);
  }
  for (; i < count; ++i) scalar_turn(sigma * deviates[i], dx[i], dy[i]);
}

void disturb(double sigma, const double* deviates, size_t count, float no_return, float max_range,
             float* ranges) {
  const D dd;
  const H dh;
  const size_t lanes = hn::Lanes(dd);
  const auto longest = hn::Set(dh, max_range), zero = hn::Zero(dh);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto range = hn::LoadU(dh, ranges + i);
    const VD noise = hn::Mul(constant(sigma), hn::LoadU(dd, deviates + i));
    const auto noisy = hn::DemoteTo(dh, hn::Add(hn::PromoteTo(dd, range), noise));
    const auto hit = hn::Lt(range, hn::Set(dh, no_return));
    hn::StoreU(hn::IfThenElse(hit, hn::Max(hn::Min(noisy, longest), zero), longest), dh, ranges + i);
  }
  for (; i < count; ++i) scalar_disturb(sigma * deviates[i], no_return, max_range, ranges[i]);
}

void disturb_all(double sigma, const double* deviates, size_t count, float low, float high, bool keeps_high,
                 float* distances) {
  const D dd;
  const H dh;
  const size_t lanes = hn::Lanes(dd);
  const auto zero = hn::Zero(dh), most = hn::Set(dh, high);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto distance = hn::LoadU(dh, distances + i);
    const VD noise = hn::Mul(constant(sigma), hn::LoadU(dd, deviates + i));
    const auto noisy = hn::DemoteTo(dh, hn::Add(hn::PromoteTo(dd, distance), noise));
    const auto beyond = keeps_high ? hn::Gt(noisy, most) : hn::Ge(noisy, most);
    const auto kept = hn::IfThenElseZero(hn::Gt(noisy, hn::Set(dh, low)), noisy);
    const auto changed = hn::IfThenElse(beyond, keeps_high ? distance : zero, kept);
    hn::StoreU(hn::IfThenElse(hn::Eq(distance, zero), distance, changed), dh, distances + i);
  }
  for (; i < count; ++i) scalar_disturb_return(sigma * deviates[i], low, high, keeps_high, distances[i]);
}

void replace(float value, float* values, size_t count) {
  hn::Replace(hn::ScalableTag<float>(), values, count, value, 0.0F);
}

void mark(const float* ranges, size_t count, float no_return, uint8_t* hits) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto hit = hn::Lt(hn::LoadU(df, ranges + i), hn::Set(df, no_return));
    const auto one = hn::IfThenElseZero(hn::RebindMask(di, hit), hn::Set(di, 1));
    hn::StoreU(hn::DemoteTo(d8, one), d8, hits + i);
  }
  for (; i < count; ++i) hits[i] = ranges[i] < no_return;
}

void keep(float low, float high, float* values, size_t count) {
  hn::Transform(hn::ScalableTag<float>(), values, count, [&](auto d, auto v) HWY_ATTR {
    return hn::IfThenElseZero(hn::And(hn::Gt(v, hn::Set(d, low)), hn::Lt(v, hn::Set(d, high))), v);
  });
}

void clip(const float* low, const float* high, float* values, size_t count) {
  hn::Transform2(hn::ScalableTag<float>(), values, count, low, high,
                 [](auto, auto v, auto vl, auto vh) HWY_ATTR {
                   return hn::IfThenElse(hn::Lt(v, vl), vl, hn::IfThenElse(hn::Lt(vh, v), vh, v));
                 });
}

void normalize(const float* low, const float* high, float* values, size_t count) {
  hn::Transform2(
      hn::ScalableTag<float>(), values, count, low, high, [](auto d, auto v, auto vl, auto vh) HWY_ATTR {
        const auto share = hn::IfThenElseZero(hn::Gt(vh, vl), hn::Div(hn::Sub(v, vl), hn::Sub(vh, vl)));
        const auto is_signed = hn::Lt(vl, hn::Zero(d));
        return hn::IfThenElse(is_signed, hn::Sub(hn::Mul(hn::Set(d, 2.0F), share), hn::Set(d, 1.0F)), share);
      });
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(turn);
HWY_EXPORT(disturb);
HWY_EXPORT(disturb_all);
HWY_EXPORT(replace);
HWY_EXPORT(mark);
HWY_EXPORT(clip);
HWY_EXPORT(keep);
HWY_EXPORT(normalize);

}  // namespace

void turn_directions(double sigma, std::span<const double> deviates, float* dx, float* dy) {
  HWY_DYNAMIC_DISPATCH(turn)(sigma, deviates.data(), deviates.size(), dx, dy);
}

void disturb_ranges(double sigma, std::span<const double> deviates, float no_return, float max_range,
                    float* ranges) {
  HWY_DYNAMIC_DISPATCH(disturb)(sigma, deviates.data(), deviates.size(), no_return, max_range, ranges);
}

void disturb_returns(double sigma, std::span<const double> deviates, float low, float high, bool keeps_high,
                     float* distances) {
  HWY_DYNAMIC_DISPATCH(disturb_all)
  (sigma, deviates.data(), deviates.size(), low, high, keeps_high, distances);
}

void replace_zeros(float value, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(replace)(value, values.data(), values.size());
}

void mark_hits(std::span<const float> ranges, float no_return, uint8_t* hits) {
  HWY_DYNAMIC_DISPATCH(mark)(ranges.data(), ranges.size(), no_return, hits);
}

void keep_between(float low, float high, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(keep)(low, high, values.data(), values.size());
}

void clip_values(const float* low, const float* high, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(clip)(low, high, values.data(), values.size());
}

void normalize_values(const float* low, const float* high, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(normalize)(low, high, values.data(), values.size());
}

}  // namespace mvsim
#endif
