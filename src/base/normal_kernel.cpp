#include <algorithm>

#include "base/math_coefficients.h"
#include "base/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/normal_kernel.cpp"
#include "base/highway_targets.h"

#include "base/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {

// Whole numbers below 2^32, exactly: as the low bits of 2^52.
HWY_INLINE VD to_double(VU whole) {
  return hn::Sub(hn::BitCast(D(), hn::Or(whole, hn::Set(U(), 0x4330000000000000u))), constant(0x1p52));
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

HWY_INLINE VU wide_product(VU low_halves, uint32_t factor) {
#if HWY_TARGET == HWY_SCALAR  // has no vectors of two halves
  return hn::Mul(hn::And(low_halves, hn::Set(U(), 0xffffffffu)), hn::Set(U(), factor));
#else
  const hn::Repartition<uint32_t, U> halves;
  return hn::MulEven(hn::BitCast(halves, low_halves), hn::Set(halves, factor));
#endif
}

// Keys of Philox's rounds.
struct RoundKeys {
  uint64_t first[10], second[10];

  explicit RoundKeys(const PhiloxName& name) {
    uint32_t k0 = static_cast<uint32_t>(name.key), k1 = static_cast<uint32_t>(name.key >> 32);
    for (size_t round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      first[round] = k0;
      second[round] = k1;
    }
  }
};

// 53 bits of two words, in [0, 1). High halves of the words hold rubbish.
HWY_INLINE VD uniform_lanes(VU high, VU low) {
  const VU mask = hn::Set(U(), 0xffffffffu);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const VU bits = hn::ShiftRight<11>(hn::Or(hn::ShiftLeft<32>(high), hn::And(low, mask)));
  return hn::Mul(hn::ConvertTo(D(), bits), constant(0x1p-53));
#else
  return hn::Add(hn::Mul(to_double(hn::And(high, mask)), constant(0x1p-32)),
                 hn::Mul(to_double(hn::ShiftRight<11>(hn::And(low, mask))), constant(0x1p-53)));
#endif
}

// Philox 4x32-10. Two uniform numbers of each block, as its first and its last two words.
HWY_INLINE void uniform_pairs(const PhiloxName& name, const RoundKeys& keys, VU block, double* u, double* v) {
  const U du;
  VU c0 = block, c1 = hn::ShiftRight<32>(block), c2 = hn::Set(du, name.episode),
     c3 = hn::Set(du, name.stream);
  for (size_t round = 0; round < 10; ++round) {
    const VU p0 = wide_product(c0, 0xD2511F53u), p1 = wide_product(c2, 0xCD9E8D57u);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(du, keys.first[round]));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(du, keys.second[round]));
    c1 = p1;
    c3 = p0;
  }
  hn::Store(uniform_lanes(c0, c1), D(), u);
  hn::Store(uniform_lanes(c2, c3), D(), v);
}

// Box and Muller's radius and direction.
HWY_INLINE VD radius_lanes(VD u) {
  return hn::Sqrt(hn::Mul(constant(-2.0), logarithm_lanes(hn::Sub(constant(1.0), u))));
}

HWY_INLINE void normal_pairs(VD radius, VD v, double* out) {
  const VectorSinCos direction = sin_cos_lanes(hn::Mul(constant(2.0 * kPi), v));
  hn::StoreInterleaved2(hn::Mul(radius, direction.cos), hn::Mul(radius, direction.sin), D(), out);
}

// Each stage is a long chain of dependent values. A loop of its own lets the processor work on several lanes
// of it at once.
void normals(const PhiloxName& name, uint64_t block, double* out, size_t pairs) {
  constexpr size_t kPiece = 8 * hn::MaxLanes(D());
  const D dd;
  const size_t lanes = hn::Lanes(dd);
  const RoundKeys keys(name);
  HWY_ALIGN double u[kPiece], v[kPiece], rest[2 * hn::MaxLanes(dd)];
  for (size_t done = 0; done < pairs; done += kPiece) {
    const size_t count = std::min(kPiece, pairs - done);
    for (size_t i = 0; i < count; i += lanes)
      uniform_pairs(name, keys, hn::Add(hn::Set(U(), block + done + i), hn::Iota(U(), 0)), u + i, v + i);
    for (size_t i = 0; i < count; i += lanes) hn::Store(radius_lanes(hn::Load(dd, u + i)), dd, u + i);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
      normal_pairs(hn::Load(dd, u + i), hn::Load(dd, v + i), out + 2 * (done + i));
    if (i == count) continue;
    normal_pairs(hn::Load(dd, u + i), hn::Load(dd, v + i), rest);
    std::copy(rest, rest + 2 * (count - i), out + 2 * (done + i));
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(normals);

}  // namespace

void philox_normals(const PhiloxName& name, uint64_t block, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(normals)(name, block, out.data(), out.size() / 2);
}

}  // namespace mvsim
#endif
