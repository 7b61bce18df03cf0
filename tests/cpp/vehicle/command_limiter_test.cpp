// Limits of commands against ros2_control's RateLimiter, written out by its definition, and closed forms.
#include "vehicle/command_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace mvsim::command_limiter_test {
namespace {

constexpr double kNone = 1e9, kDt = 0.01;

struct Limits {
  double p[kLimitParamCount] = {kNone, -kNone, kNone, -kNone, -kNone, kNone, kNone, -kNone};
};

// Runs a constant command from rest.
LimitedCommand run(const Limits& limits, double wanted, double seconds, LimitedCommand made = {}) {
  for (int i = 0; i < static_cast<int>(std::lround(seconds / kDt)); ++i)
    made = {limited_command(limits.p, wanted, made, kDt), made.last};
  return made;
}

TEST(CommandLimiter, WithoutLimitsTheCommandPasses) {
  const Limits none;
  RandomStream random(1, 0, StreamPurpose::kSpawn);
  LimitedCommand made;
  for (int i = 0; i < 1000; ++i) {
    const double wanted = random.uniform(-5, 5);
    made = {limited_command(none.p, wanted, made, kDt), made.last};
    EXPECT_NEAR(made.last, wanted, 1e-14);
  }
}

TEST(CommandLimiter, SpeedGrowsByTheAccelerationUpToTheLimit) {
  Limits limits;
  limits.p[kMaxVelocity] = 1.5, limits.p[kMaxAcceleration] = 2;
  EXPECT_NEAR(run(limits, 3, 0.5).last, 1.0, 1e-12);
  EXPECT_EQ(run(limits, 3, 2).last, 1.5);
}

TEST(CommandLimiter, BrakingAndReversingHaveLimitsOfTheirOwn) {
  Limits limits;
  limits.p[kMaxAcceleration] = 1, limits.p[kMaxDeceleration] = -4;
  limits.p[kMaxAccelerationReverse] = -2, limits.p[kMaxDecelerationReverse] = 8;
  const LimitedCommand forward{2, 2}, backward{-2, -2};
  EXPECT_NEAR(run(limits, 0, 0.25, forward).last, 1, 1e-12);
  EXPECT_NEAR(run(limits, -9, 0.25).last, -0.5, 1e-12);
  EXPECT_NEAR(run(limits, 0, 0.125, backward).last, -2 + 8 * 0.13, 1e-12);
}

// v = j t^2 / 2, in steps: j dt^2 n (n + 1) / 2.
TEST(CommandLimiter, SpeedGrowsWithTheSquareUnderALimitOfJerk) {
  Limits limits;
  limits.p[kMaxJerk] = 3, limits.p[kMinJerk] = -3;
  EXPECT_NEAR(run(limits, 100, 0.5).last, 3 * kDt * kDt * 50 * 51 / 2, 1e-12);
}

// control_toolbox, rate_limiter.hpp of ROS 2 Jazzy, step by step.
double by_definition(const double* p, double v, double v0, double v1, double dt) {
  const double dv = v - v0, dv0 = v0 - v1;
  if ((dv - dv0) * (v - v0) > 0)
    v = v0 + dv0 + std::clamp(dv - dv0, p[kMinJerk] * dt * dt, p[kMaxJerk] * dt * dt);
  double dv_min = p[kMaxAccelerationReverse] * dt, dv_max = p[kMaxAcceleration] * dt;
  if (v0 > 0) dv_min = p[kMaxDeceleration] * dt;
  if (v0 < 0) dv_max = p[kMaxDecelerationReverse] * dt;
  v = v0 + std::clamp(v - v0, dv_min, dv_max);
  return std::clamp(v, p[kMinVelocity], p[kMaxVelocity]);
}

TEST(CommandLimiter, AgreesWithItsDefinitionOnRandomLimits) {
  RandomStream random(2, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 20000; ++i) {
    double p[kLimitParamCount];
    for (int k = 0; k < kLimitParamCount; ++k) {
      const bool negative =
          k == kMinVelocity || k == kMaxDeceleration || k == kMaxAccelerationReverse || k == kMinJerk;
      const double size = random.uniform(0, 1) < 0.2 ? kNone : random.uniform(0.1, 20);
      p[k] = negative ? -size : size;
    }
    const double v = random.uniform(-3, 3), v0 = random.uniform(0, 1) < 0.1 ? 0 : random.uniform(-3, 3);
    const double v1 = v0 + random.uniform(-0.1, 0.1);
    EXPECT_NEAR(limited_command(p, v, {v0, v1}, kDt), by_definition(p, v, v0, v1, kDt), 1e-12);
  }
}

}  // namespace
}  // namespace mvsim::command_limiter_test
