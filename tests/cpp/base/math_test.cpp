// The C library's long double is the reference for accuracy; the point of our own functions is that their
// bits do not depend on it. The hash pins those bits on every compiler and machine.
#include "base/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace mvsim::math_test {
namespace {

double relative_error(double value, double reference) {
  return std::fabs(value - reference) / std::max(std::fabs(reference), 1e-300);
}

TEST(Math, AgreesWithTheCLibrary) {
  RandomStream random(1, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 200000; ++i) {
    const double a = random.uniform(-1, 1) * (i % 3 == 0 ? 1e3 : i % 3 == 1 ? 1e6 : 4);
    const SinCos sc = sin_cos(a);
    ASSERT_NEAR(sc.sin, std::sin(a), 4e-16 * 4) << a;
    ASSERT_NEAR(sc.cos, std::cos(a), 4e-16 * 4) << a;
    const double y = random.uniform(-2, 2), x = random.uniform(-2, 2);
    ASSERT_LT(relative_error(math::atan2(y, x), std::atan2(y, x)), 2e-15) << y << " " << x;
    const double e = random.uniform(-700, 700);
    ASSERT_LT(relative_error(math::exp(e), std::exp(e)), 1e-15) << e;
    const double l = std::ldexp(random.uniform(0.5, 1), static_cast<int>(random.below(2000)) - 1000);
    ASSERT_LT(relative_error(math::log(l), std::log(l)), 1e-15) << l;
    const double t = random.uniform(-5, 5);
    ASSERT_NEAR(math::tanh(t), std::tanh(t), 1e-15 * 8) << t;
  }
}

// Error in units of the last place of the result as a double.
double ulps(double value, long double reference) {
  const auto near = static_cast<double>(std::fabs(reference));
  const double ulp = std::nextafter(near, std::numeric_limits<double>::infinity()) - near;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - reference) / ulp);
}

constexpr bool kFinerReference = std::numeric_limits<long double>::digits >= 64;

// The largest error over arguments of all sizes between 10^from and 10^to, both signs, and the multiples of
// pi / 4 with their neighbours, where functions of an angle are small or change their branch.
template <typename F, typename Reference>
double worst_ulps(double from, double to, F f, Reference reference) {
  RandomStream random(11, 0, StreamPurpose::kSpawn);
  double worst = 0;
  const auto look = [&](double x) {
    const double size = std::fabs(x);
    if (size >= std::pow(10, from) && size <= std::pow(10, to))
      worst = std::max(worst, ulps(f(x), reference(static_cast<long double>(x))));
  };
  for (int i = 0; i < 100000; ++i) {
    const double x = std::pow(10, random.uniform(from, to));
    look(x);
    look(-x);
    const double corner = kPi / 4 * static_cast<double>(random.below(1000000));
    for (const double near : {corner, std::nextafter(corner, 0), corner * (1 + 1e-9)}) look(near);
  }
  return worst;
}

TEST(Math, SineAndCosineKeepTheirUlp) {
  if (!kFinerReference) GTEST_SKIP() << "long double is no finer than double here";
  const auto sine = [](double x) { return sin_cos(x).sin; };
  const auto cosine = [](double x) { return sin_cos(x).cos; };
  EXPECT_LE(worst_ulps(-300, 6, sine, [](long double x) { return sinl(x); }), 2);
  EXPECT_LE(worst_ulps(-300, 6, cosine, [](long double x) { return cosl(x); }), 2);
}

TEST(Math, SinesOfLargeAnglesAreThoseOfANeighbour) {
  if (!kFinerReference) GTEST_SKIP() << "long double is no finer than double here";
  RandomStream random(12, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::pow(10, random.uniform(6, 15));
    const double ulp = std::nextafter(x, 1e300) - x;
    ASSERT_LE(std::fabs(sin_cos(x).sin - sinl(x)), ulp + 1e-16) << x;
    ASSERT_LE(std::fabs(sin_cos(x).cos - cosl(x)), ulp + 1e-16) << x;
  }
}

TEST(Math, OtherFunctionsKeepTheirUlp) {
  if (!kFinerReference) GTEST_SKIP() << "long double is no finer than double here";
  EXPECT_LE(worst_ulps(-300, 2.85, math::exp, [](long double x) { return expl(x); }), 1);
  EXPECT_LE(worst_ulps(-300, 2, math::tanh, [](long double x) { return tanhl(x); }), 3);
  EXPECT_LE(worst_ulps(-3.02, -3, math::tanh, [](long double x) { return tanhl(x); }), 3);
  EXPECT_LE(worst_ulps(-2, 2, math::tanh, [](long double x) { return tanhl(x); }), 3);
  const auto log_of = [](double x) { return math::log(std::fabs(x)); };
  const auto log_reference = [](long double x) { return logl(std::fabs(x)); };
  EXPECT_LE(worst_ulps(-300, 300, log_of, log_reference), 1);
  EXPECT_LE(worst_ulps(-0.3, 0.3, log_of, log_reference), 1) << "near 1";
  RandomStream random(13, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 200000; ++i) {
    const double spread = i % 2 ? 1 : 100;
    const double y = random.uniform(-1, 1) * std::pow(10, random.uniform(-spread, spread)),
                 x = random.uniform(-1, 1) * std::pow(10, random.uniform(-spread, spread));
    ASSERT_LE(ulps(math::atan2(y, x), atan2l(y, x)), 3) << y << ", " << x;
    const double base = std::pow(10, random.uniform(-20, 20)), exponent = random.uniform(-10, 10);
    ASSERT_LE(ulps(math::pow(base, exponent), powl(base, exponent)),
              2 + 2 * std::fabs(exponent * std::log(base)))
        << base << "^" << exponent;
    const double angle = random.uniform(-1, 1) * std::pow(10, random.uniform(-3, 6));
    const double wrapped = wrap_to_pi(angle);
    ASSERT_GE(wrapped, -kPi);
    ASSERT_LT(wrapped, kPi);
    // the same direction: 2 pi as a double is itself off by 2.4e-16
    const double off = std::fabs(angle) + kPi, ulp = std::nextafter(off, 1e300) - off;
    const long double turns = std::round((static_cast<long double>(angle) - wrapped) / (2 * kPi));
    ASSERT_LE(std::fabs(static_cast<long double>(angle) - wrapped - turns * 2 * kPi), ulp) << angle;
  }
}

TEST(Math, HypotAtAnySize) {
  if (!kFinerReference) GTEST_SKIP() << "long double is no finer than double here";
  RandomStream random(15, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 200000; ++i) {
    const double size = std::pow(10, random.uniform(-300, 300)), spread = i % 2 ? 1 : 12;
    const double x = random.uniform(-1, 1) * size, y = x * std::pow(10, random.uniform(-spread, spread));
    if (!(std::fabs(y) > 1e-300 && std::fabs(y) < 1e300)) continue;
    ASSERT_LE(ulps(math::hypot(x, y), hypotl(x, y)), 1) << x << ", " << y;
  }
#if defined(__GLIBC__) && defined(__x86_64__) && __GLIBC_PREREQ(2, 35)
  // glibc has the same algorithm from 2.35 on, so results of former versions of the package stay
  for (int i = 0; i < 1000000; ++i) {
    const double spread = i % 3 ? 1 : 50;
    const double x = random.uniform(-spread, spread), y = random.uniform(-1, 1);
    ASSERT_EQ(math::hypot(x, y), std::hypot(x, y)) << x << ", " << y;
  }
#endif
  EXPECT_EQ(math::hypot(3, -4), 5);
  EXPECT_EQ(math::hypot(0, -0.0), 0);
  EXPECT_EQ(math::hypot(0, 1e-320), 1e-320);
  EXPECT_EQ(math::hypot(1.5e308, 1.5e308), std::numeric_limits<double>::infinity());
  EXPECT_EQ(math::hypot(-1e308, 1e308), 1e308 * std::sqrt(2.0));
}

TEST(Math, WhatIsNoNumberStaysNone) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {kNan, kInfinity, -kInfinity}) {
    EXPECT_TRUE(std::isnan(sin_cos(x).sin) && std::isnan(sin_cos(x).cos)) << x;
    EXPECT_TRUE(std::isnan(wrap_to_pi(x))) << x;
  }
  for (const auto f : {math::exp, math::log, math::tanh}) EXPECT_TRUE(std::isnan(f(kNan)));
  EXPECT_TRUE(std::isnan(math::hypot(kNan, 1)) && std::isnan(math::hypot(1, kNan)));
  EXPECT_EQ(math::hypot(-kInfinity, 1), kInfinity);
  EXPECT_TRUE(std::isnan(math::pow(kNan, 2)) && std::isnan(math::pow(2, kNan)));
}

TEST(Math, SpecialValues) {
  EXPECT_EQ(sin_cos(0).sin, 0);
  EXPECT_EQ(sin_cos(0).cos, 1);
  EXPECT_NEAR(sin_cos(1e15).sin, std::sin(std::fmod(1e15, 2 * kPi)), 1e-12);
  EXPECT_EQ(math::atan2(0, 1), 0);
  EXPECT_DOUBLE_EQ(math::atan2(0, -1), kPi);
  EXPECT_DOUBLE_EQ(math::atan2(-0.0, -1), -kPi);
  EXPECT_DOUBLE_EQ(math::atan2(1, 0), kPi / 2);
  EXPECT_TRUE(std::isnan(math::atan2(NAN, 1)));
  EXPECT_EQ(math::exp(-1e4), 0);
  EXPECT_TRUE(std::isinf(math::exp(1e4)));
  EXPECT_TRUE(std::isinf(math::log(0)));
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_EQ(math::tanh(100), 1);
  EXPECT_DOUBLE_EQ(wrap_to_pi(3 * kPi), -kPi);
  EXPECT_NEAR(wrap_to_pi(-3.5 * kPi), kPi / 2, 1e-14);
  EXPECT_NEAR(math::pow(2, 10), 1024, 1e-10);
}

TEST(Math, SameBitsEverywhere) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](double v) { hash = (hash ^ std::bit_cast<uint64_t>(v)) * 0x100000001b3; };
  RandomStream random(7, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 10000; ++i) {
    const double a = random.uniform(-50, 50), b = random.uniform(-3, 3);
    mix(sin_cos(a).sin);
    mix(sin_cos(a).cos);
    mix(math::atan2(a, b));
    mix(math::exp(b));
    mix(math::log(a * a));
    mix(math::tanh(b));
    mix(random.normal());
  }
  EXPECT_EQ(hash, 0x71df1625cba05f50u) << std::hex << hash;
}

}  // namespace
}  // namespace mvsim::math_test
