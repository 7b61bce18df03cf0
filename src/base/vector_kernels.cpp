#include "base/vector_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/geometry.h"
#include "base/math_coefficients.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/vector_kernels.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef MVSIM_BASE_VECTOR_KERNELS_ONCE
#define MVSIM_BASE_VECTOR_KERNELS_ONCE
namespace mvsim {

// The scalar forms: for the last few values, and for CPUs without vectors.
inline std::array<double, 2> scalar_normals(const PhiloxName& name, uint64_t block) {
  const auto uniform = [](uint64_t high, uint64_t low) {
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
  };
  const std::array<uint32_t, 4> w = philox_block(name, block);
  return normal_pair(uniform(w[0], w[1]), uniform(w[2], w[3]));
}

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

inline float normalized(float low, float high, float value) {
  const float share = high > low ? (value - low) / (high - low) : 0.0f;
  return low < 0 ? 2 * share - 1 : share;
}

}  // namespace mvsim
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

void normals(const PhiloxName& name, uint64_t block, double* out, size_t pairs) {
  for (size_t i = 0; i < pairs; ++i) {
    const auto pair = scalar_normals(name, block + i);
    std::copy(pair.begin(), pair.end(), out + 2 * i);
  }
}

void turn(double sigma, const double* deviates, size_t count, float* dx, float* dy) {
  for (size_t i = 0; i < count; ++i) scalar_turn(sigma * deviates[i], dx[i], dy[i]);
}

void disturb(double sigma, const double* deviates, size_t count, float no_return, float max_range,
             float* ranges) {
  for (size_t i = 0; i < count; ++i) scalar_disturb(sigma * deviates[i], no_return, max_range, ranges[i]);
}

void disturb_all(double sigma, const double* deviates, size_t count, float low, float high, bool keeps_high,
                 float* distances) {
  for (size_t i = 0; i < count; ++i)
    scalar_disturb_return(sigma * deviates[i], low, high, keeps_high, distances[i]);
}

void replace(float value, float* values, size_t count) {
  std::replace(values, values + count, 0.0F, value);
}

void mark(const float* ranges, size_t count, float no_return, uint8_t* hits) {
  for (size_t i = 0; i < count; ++i) hits[i] = ranges[i] < no_return;
}

void keep(float low, float high, float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = values[i] > low && values[i] < high ? values[i] : 0;
}

void clip(const float* low, const float* high, float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], low[i], high[i]);
}

void normalize(const float* low, const float* high, float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = normalized(low[i], high[i], values[i]);
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using namespace coefficients;

using D = hn::ScalableTag<double>;
using U = hn::RebindToUnsigned<D>;  // 64-bit lanes; Philox uses their low halves
using U32 = hn::Repartition<uint32_t, U>;
using H = hn::Rebind<float, D>;  // as many floats
using VD = hn::Vec<D>;
using VU = hn::Vec<U>;

HWY_INLINE VD constant(double value) {
  return hn::Set(D(), value);
}

// c[0] + x * (c[1] + x * (...)), as the scalar code nests it.
template <size_t kCount>
HWY_INLINE VD polynomial(const double (&c)[kCount], size_t first, VD x) {
  VD sum = constant(c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > first;) sum = hn::Add(constant(c[i]), hn::Mul(x, sum));
  return sum;
}

// Whole numbers below 2^32, exactly: as the low bits of 2^52.
HWY_INLINE VD to_double(VU whole) {
  return hn::Sub(hn::BitCast(D(), hn::Or(whole, hn::Set(U(), 0x4330000000000000u))), constant(0x1p52));
}

struct VectorSinCos {
  VD sin, cos;
};

// |angle| <= 1e9
HWY_INLINE VectorSinCos sin_cos_lanes(VD angle) {
  const D dd;
  const U du;
  const VD shifted = hn::Add(hn::Mul(angle, constant(kTwoOverPi)), constant(kRoundingShift));
  const VD quarter =
      hn::CopySign(hn::Sub(shifted, constant(kRoundingShift)), hn::Mul(angle, constant(kTwoOverPi)));
  VD x = angle;
  for (const double piece : kHalfPi) x = hn::Sub(x, hn::Mul(quarter, constant(piece)));
  const VD z = hn::Mul(x, x);
  const VD sin_rest = hn::Add(constant(kSin[0]), hn::Mul(z, polynomial(kSin, 1, z)));
  const VD s = hn::Add(x, hn::Mul(hn::Mul(z, x), sin_rest));
  const VD cos_rest = hn::Mul(z, polynomial(kCos, 0, z));
  const VD c = hn::Sub(constant(1.0), hn::Sub(hn::Mul(constant(0.5), z), hn::Mul(z, cos_rest)));

  // the low bits of the shifted sum are the whole number; odd quarters swap, and two bits give the signs
  const VU bits = hn::BitCast(du, shifted);
  const VU one = hn::Set(du, 1), two = hn::Set(du, 2);
  const auto odd = hn::MaskFromVec(hn::BitCast(dd, hn::Sub(hn::Zero(du), hn::And(bits, one))));
  const VD sin_sign = hn::BitCast(dd, hn::ShiftLeft<62>(hn::And(bits, two)));
  const VD cos_sign = hn::BitCast(dd, hn::ShiftLeft<62>(hn::And(hn::Add(bits, one), two)));
  return {hn::Xor(hn::IfThenElse(odd, c, s), sin_sign), hn::Xor(hn::IfThenElse(odd, s, c), cos_sign)};
}

// x in (0, 1], at least 2^-53
HWY_INLINE VD logarithm_lanes(VD x) {
  const D dd;
  const U du;
  const VU bits = hn::BitCast(du, x);
  const VD m = hn::BitCast(dd, hn::Or(hn::And(bits, hn::Set(du, 0x000fffffffffffffu)),
                                      hn::Set(du, 0x3fe0000000000000u)));  // [0.5, 1)
  const auto low = hn::Lt(m, constant(kSqrtHalf));
  const VD exponent = hn::Sub(to_double(hn::ShiftRight<52>(bits)), constant(1022));
  const VD k = hn::Sub(exponent, hn::IfThenElseZero(low, constant(1)));
  const VD f = hn::Sub(hn::IfThenElse(low, hn::Add(m, m), m), constant(1));
  const VD s = hn::Div(f, hn::Add(constant(2), f));
  const VD z = hn::Mul(s, s), w = hn::Mul(z, z);
  const VD t1 = hn::Mul(w, polynomial(kLogEven, 0, w)), t2 = hn::Mul(z, polynomial(kLogOdd, 0, w));
  const VD half = hn::Mul(hn::Mul(constant(0.5), f), f);
  const VD product = hn::Mul(s, hn::Add(hn::Add(half, t1), t2));
  const VD inner = hn::Sub(half, hn::Add(product, hn::Mul(k, constant(kLn2Low))));
  return hn::Sub(hn::Mul(k, constant(kLn2High)), hn::Sub(inner, f));
}

struct Words {
  VU w0, w1, w2, w3;  // in the low halves
};

HWY_INLINE VU wide_product(VU low_halves, uint32_t factor) {
  return hn::MulEven(hn::BitCast(U32(), low_halves), hn::Set(U32(), factor));
}

// Philox 4x32-10. High halves hold rubbish on the way: products ignore it.
HWY_INLINE Words philox_lanes(const PhiloxName& name, VU block) {
  const U du;
  VU c0 = block, c1 = hn::ShiftRight<32>(block), c2 = hn::Set(du, name.episode),
     c3 = hn::Set(du, name.stream);
  uint32_t k0 = static_cast<uint32_t>(name.key), k1 = static_cast<uint32_t>(name.key >> 32);
  for (int round = 0; round < 10; ++round) {
    const VU p0 = wide_product(c0, 0xD2511F53u), p1 = wide_product(c2, 0xCD9E8D57u);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(du, k0));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(du, k1));
    c1 = p1;
    c3 = p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const VU low = hn::Set(du, 0xffffffffu);
  return {hn::And(c0, low), hn::And(c1, low), hn::And(c2, low), hn::And(c3, low)};
}

// 53 bits of two words, in [0, 1).
HWY_INLINE VD uniform_lanes(VU high, VU low) {
  return hn::Add(hn::Mul(to_double(high), constant(0x1p-32)),
                 hn::Mul(to_double(hn::ShiftRight<11>(low)), constant(0x1p-53)));
}

// Blocks [block, block + lanes) to twice as many values.
HWY_INLINE void normal_lanes(const PhiloxName& name, uint64_t block, double* out) {
  const D dd;
  const Words words = philox_lanes(name, hn::Add(hn::Set(U(), block), hn::Iota(U(), 0)));
  const VD u = uniform_lanes(words.w0, words.w1), v = uniform_lanes(words.w2, words.w3);
  const VectorSinCos direction = sin_cos_lanes(hn::Mul(constant(2.0 * kPi), v));
  const VD log = logarithm_lanes(hn::Sub(constant(1.0), u));
  const VD radius = hn::Sqrt(hn::Mul(constant(-2.0), log));
  hn::StoreInterleaved2(hn::Mul(radius, direction.cos), hn::Mul(radius, direction.sin), dd, out);
}

void normals(const PhiloxName& name, uint64_t block, double* out, size_t pairs) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= pairs; i += lanes) normal_lanes(name, block + i, out + 2 * i);
  if (i == pairs) return;
  HWY_ALIGN double rest[2 * hn::MaxLanes(D())];
  normal_lanes(name, block + i, rest);
  std::copy(rest, rest + 2 * (pairs - i), out + 2 * i);
}

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
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(df, values + i);
    hn::StoreU(hn::IfThenElse(hn::Eq(v, hn::Zero(df)), hn::Set(df, value), v), df, values + i);
  }
  std::replace(values + i, values + count, 0.0F, value);
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
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  const auto vl = hn::Set(df, low), vh = hn::Set(df, high);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(df, values + i);
    hn::StoreU(hn::IfThenElseZero(hn::And(hn::Gt(v, vl), hn::Lt(v, vh)), v), df, values + i);
  }
  for (; i < count; ++i) values[i] = values[i] > low && values[i] < high ? values[i] : 0;
}

void clip(const float* low, const float* high, float* values, size_t count) {
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(df, values + i), vl = hn::LoadU(df, low + i), vh = hn::LoadU(df, high + i);
    hn::StoreU(hn::IfThenElse(hn::Lt(v, vl), vl, hn::IfThenElse(hn::Lt(vh, v), vh, v)), df, values + i);
  }
  for (; i < count; ++i) values[i] = std::clamp(values[i], low[i], high[i]);
}

void normalize(const float* low, const float* high, float* values, size_t count) {
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  const auto one = hn::Set(df, 1.0f), two = hn::Set(df, 2.0f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(df, values + i), vl = hn::LoadU(df, low + i), vh = hn::LoadU(df, high + i);
    const auto share = hn::IfThenElseZero(hn::Gt(vh, vl), hn::Div(hn::Sub(v, vl), hn::Sub(vh, vl)));
    const auto is_signed = hn::Lt(vl, hn::Zero(df));
    hn::StoreU(hn::IfThenElse(is_signed, hn::Sub(hn::Mul(two, share), one), share), df, values + i);
  }
  for (; i < count; ++i) values[i] = normalized(low[i], high[i], values[i]);
}

#endif

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(normals);
HWY_EXPORT(turn);
HWY_EXPORT(disturb);
HWY_EXPORT(disturb_all);
HWY_EXPORT(replace);
HWY_EXPORT(mark);
HWY_EXPORT(clip);
HWY_EXPORT(keep);
HWY_EXPORT(normalize);

}  // namespace

void philox_normals(const PhiloxName& name, uint64_t block, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(normals)(name, block, out.data(), out.size() / 2);
}

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
