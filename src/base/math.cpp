#include "base/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mvsim {
namespace {

using namespace coefficients;

// As std::ldexp for y in [0.5, 2), without a call where the product is a normal number.
double times_power_of_two(double y, int k) {
  if (k < -1021 || k > 1022) return std::ldexp(y, k);
  return y * std::bit_cast<double>(static_cast<uint64_t>(1023 + k) << 52);
}

using Two = double __attribute__((vector_size(16)));  // GCC's and Clang's, without a target of its own

// On [-pi/4, pi/4]. Both polynomials have six coefficients, so they are evaluated side by side.
SinCos kernels(double x) {
  const double z = x * x;
  Two sum{kSin[5], kCos[5]};
  for (size_t i = 5; i-- > 0;) sum = Two{kSin[i], kCos[i]} + z * sum;
  return {x + z * x * sum[0], 1.0 - (0.5 * z - z * (z * sum[1]))};
}

// arctangent on [0, 0.4142]: odd Taylor-like minimax of fdlibm's atan.
double atan_kernel(double x) {
  static constexpr double kA[] = {
      3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
      -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
      6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
      -3.65315727442169155270e-02, 1.62858201153657823623e-02};
  const double z = x * x;
  double r = kA[10];
  for (int i = 9; i >= 0; --i) r = kA[i] + z * r;
  return x - x * z * r;
}

}  // namespace

SinCos sin_cos(double angle) {
  if (angle == 0) return {0.0, 1.0};  // as below; many things are level or not turned
  if (!(std::fabs(angle) <= 1e9)) {
    angle = std::fmod(angle, 2.0 * kPi);  // exact in IEEE, same on every machine
    if (std::isnan(angle)) return {angle, angle};
  }
  const double quarter = nearest_integer(angle * kTwoOverPi);
  double r = angle;
  if (quarter != 0)  // a branch that is foreseen is faster than to wait for the quarter
    for (const double piece : kHalfPi) r -= quarter * piece;
  const auto [s, c] = kernels(r);
  switch (static_cast<int64_t>(quarter) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double math::angle_from_axis(double across, double along) {
  const double y = std::fabs(across), x = std::fabs(along);
  if (x == 0 && y == 0) return 0;
  const bool steep = y > x;
  double t = steep ? x / y : y / x;
  if (std::isnan(t)) {
    if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
    t = 1;  // both are infinite
  }
  // tan(pi/8) splits [0, 1]: above it atan t = pi/4 + atan((t - 1) / (t + 1))
  const double angle = t > 0.41421356237309503 ? kPi / 4 + atan_kernel((t - 1) / (t + 1)) : atan_kernel(t);
  return steep ? kPi / 2 - angle : angle;
}

double math::atan2(double y, double x) {
  const double angle = angle_from_axis(y, x);
  if (std::isnan(angle)) return angle;
  return std::copysign(std::signbit(x) ? kPi - angle : angle, y);
}

double math::exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const double k = nearest_integer(x * 1.44269504088896338700e+00);
  const double hi = x - k * kLn2High;
  const double lo = k * kLn2Low;
  const double r = hi - lo;
  const double z = r * r;
  const double c = r - z * (1.66666666666666019037e-01 +
                            z * (-2.77777777770155933842e-03 +
                                 z * (6.61375632143793436117e-05 +
                                      z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));
  const double y = 1.0 - ((lo - (r * c) / (2.0 - c)) - hi);
  return times_power_of_two(y, static_cast<int>(k));
}

double math::log(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  int k = 0;
  double m = std::frexp(x, &k);  // exact
  if (m < kSqrtHalf) {
    m *= 2;
    --k;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f), z = s * s, w = z * z;
  const double t1 = w * (kLogEven[0] + w * (kLogEven[1] + w * kLogEven[2]));
  const double t2 = z * (kLogOdd[0] + w * (kLogOdd[1] + w * (kLogOdd[2] + w * kLogOdd[3])));
  const double half = 0.5 * f * f;
  return k * kLn2High - ((half - (s * (half + t1 + t2) + k * kLn2Low)) - f);
}

double math::tanh(double x) {
  const double a = std::fabs(x);
  if (a > 22) return std::copysign(1.0, x);
  if (a < 0.625) {
    // where e - 1 would cancel: a rational function in x^2 (Cephes)
    const double z = x * x;
    const double p = (kTanhP[0] * z + kTanhP[1]) * z + kTanhP[2];
    const double q = ((z + kTanhQ[0]) * z + kTanhQ[1]) * z + kTanhQ[2];
    return x + x * (z * (p / q));
  }
  const double e = math::exp(2.0 * a);
  return std::copysign((e - 1.0) / (e + 1.0), x);
}

double math::pow(double base, double exponent) {
  return math::exp(exponent * math::log(base));
}

double wrap_to_pi(double angle) {
  double r = angle + kPi;
  if (!(std::fabs(r) < 2.0 * kPi)) r = std::fmod(r, 2.0 * kPi);  // a slow function in some C libraries
  if (r < 0) r += 2.0 * kPi;
  return r - kPi;
}

// Borges, "An Improved Algorithm for hypot(a,b)" (arXiv 1904.09481): a Newton step on the rounded root. The
// error of its square is a sum of small products, because h differs from one of the sides by no more than the
// other.
double math::hypot(double x, double y) {
  const double a = std::fmax(std::fabs(x), std::fabs(y)), b = std::fmin(std::fabs(x), std::fabs(y));
  if (std::isinf(a)) return a;
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  if (b <= a * 0x1p-53) return a + b;
  // the squares of the scaled numbers neither overflow nor lose bits
  if (a > 0x1p500) return math::hypot(a * 0x1p-600, b * 0x1p-600) * 0x1p600;
  if (b < 0x1p-450) return math::hypot(a * 0x1p600, b * 0x1p600) * 0x1p-600;
  const double h = std::sqrt(a * a + b * b);
  const bool is_short = h <= 2.0 * b;
  const double rest = h - (is_short ? b : a);
  const double one = is_short ? a * (2.0 * rest - a) : 2.0 * rest * (a - 2.0 * b);
  const double other = is_short ? (rest - 2.0 * (a - b)) * rest : (4.0 * rest - b) * b + rest * rest;
  return h - (one + other) / (2.0 * h);
}

}  // namespace mvsim
