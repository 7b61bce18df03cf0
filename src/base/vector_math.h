// Sines and cosines of a vector of doubles, with the bits of sin_cos(). Include it after hwy/highway.h: it is
// compiled for each set of instructions.
#include "base/math_coefficients.h"

#if defined(MVSIM_BASE_VECTOR_MATH) == defined(HWY_TARGET_TOGGLE)
#ifdef MVSIM_BASE_VECTOR_MATH
#undef MVSIM_BASE_VECTOR_MATH
#else
#define MVSIM_BASE_VECTOR_MATH
#endif

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace coefficients;

using D = hn::ScalableTag<double>;
using U = hn::RebindToUnsigned<D>;  // 64-bit lanes
using H = hn::Rebind<float, D>;     // as many floats
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

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
