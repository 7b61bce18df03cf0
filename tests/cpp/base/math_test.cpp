// The C library is the reference for accuracy (a few ulp); the point of our own functions is that their bits
// do not depend on it. The hash pins those bits on every compiler and machine.
#include "base/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"

namespace mvsim {
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
    ASSERT_LT(relative_error(arc_tangent(y, x), std::atan2(y, x)), 2e-15) << y << " " << x;
    const double e = random.uniform(-700, 700);
    ASSERT_LT(relative_error(exponential(e), std::exp(e)), 1e-15) << e;
    const double l = std::ldexp(random.uniform(0.5, 1), static_cast<int>(random.below(2000)) - 1000);
    ASSERT_LT(relative_error(logarithm(l), std::log(l)), 1e-15) << l;
    const double t = random.uniform(-5, 5);
    ASSERT_NEAR(hyperbolic_tangent(t), std::tanh(t), 1e-15 * 8) << t;
  }
}

TEST(Math, SpecialValues) {
  EXPECT_EQ(sin_cos(0).sin, 0);
  EXPECT_EQ(sin_cos(0).cos, 1);
  EXPECT_NEAR(sin_cos(1e15).sin, std::sin(std::fmod(1e15, 2 * kPi)), 1e-12);
  EXPECT_EQ(arc_tangent(0, 1), 0);
  EXPECT_DOUBLE_EQ(arc_tangent(0, -1), kPi);
  EXPECT_DOUBLE_EQ(arc_tangent(-0.0, -1), -kPi);
  EXPECT_DOUBLE_EQ(arc_tangent(1, 0), kPi / 2);
  EXPECT_TRUE(std::isnan(arc_tangent(NAN, 1)));
  EXPECT_EQ(exponential(-1e4), 0);
  EXPECT_TRUE(std::isinf(exponential(1e4)));
  EXPECT_TRUE(std::isinf(logarithm(0)));
  EXPECT_TRUE(std::isnan(logarithm(-1)));
  EXPECT_EQ(hyperbolic_tangent(100), 1);
  EXPECT_DOUBLE_EQ(wrap_to_pi(3 * kPi), -kPi);
  EXPECT_NEAR(wrap_to_pi(-3.5 * kPi), kPi / 2, 1e-14);
  EXPECT_NEAR(power(2, 10), 1024, 1e-10);
}

TEST(Math, SameBitsEverywhere) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](double v) { hash = (hash ^ std::bit_cast<uint64_t>(v)) * 0x100000001b3; };
  RandomStream random(7, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 10000; ++i) {
    const double a = random.uniform(-50, 50), b = random.uniform(-3, 3);
    mix(sin_cos(a).sin);
    mix(sin_cos(a).cos);
    mix(arc_tangent(a, b));
    mix(exponential(b));
    mix(logarithm(a * a));
    mix(hyperbolic_tangent(b));
    mix(random.normal());
  }
  EXPECT_EQ(hash, 0x07edde718dab682fu) << std::hex << hash;
}

}  // namespace
}  // namespace mvsim
