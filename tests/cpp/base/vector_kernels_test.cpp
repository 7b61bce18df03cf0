// Each kernel against the plain expression of one value, on every instruction set, for all lengths of the
// rest.
#include "base/vector_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/geometry.h"
#include "base/simd.h"

namespace mvsim::vector_kernels_test {
namespace {

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

struct Rays {
  std::vector<double> deviates;
  std::vector<float> dx, dy, range;
};

Rays random_rays(size_t count) {
  RandomStream random(count, 0, StreamPurpose::kSensorNoise);
  Rays rays;
  for (size_t i = 0; i < count; ++i) {
    const Rotation2 direction(random.uniform(-kPi, kPi));
    rays.dx.push_back(static_cast<float>(direction.c));
    rays.dy.push_back(static_cast<float>(direction.s));
    rays.deviates.push_back(i % 7 == 6 ? (i % 2 ? 0.0 : -0.0) : random.normal());
    rays.range.push_back(i % 5 == 4 ? 20.0f : static_cast<float>(random.uniform(0, 10)));
  }
  return rays;
}

class EveryTarget : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryTarget, DirectionsTurnAsByTheScalarRotation) {
  const ScopedSimdTarget use(GetParam());
  for (const double sigma : {1e-9, 0.01, 1.0, 2 * kPi, 1e8}) {
    for (const size_t count : {0, 1, 2, 3, 5, 8, 13, 64, 361}) {
      Rays rays = random_rays(count);
      std::vector<float> dx = rays.dx, dy = rays.dy;
      for (size_t i = 0; i < count; ++i) {
        const Vec2 d = Rotation2(sigma * rays.deviates[i]).rotate({dx[i], dy[i]});
        dx[i] = static_cast<float>(d.x);
        dy[i] = static_cast<float>(d.y);
      }
      turn_directions(sigma, rays.deviates, rays.dx.data(), rays.dy.data());
      ASSERT_TRUE(same_bits(dx, rays.dx) && same_bits(dy, rays.dy)) << sigma << ", " << count << " rays";
    }
  }
}

TEST_P(EveryTarget, OnlyHitsAreDisturbedAndStayWithinTheRange) {
  constexpr double kSigma = 2;
  int below = 0;
  const ScopedSimdTarget use(GetParam());
  for (const size_t count : {0, 1, 3, 7, 16, 17, 361}) {
    Rays rays = random_rays(count);
    std::vector<float> expected = rays.range;
    std::vector<uint8_t> expected_hits(count), hits(count);
    for (size_t i = 0; i < count; ++i) {
      expected_hits[i] = expected[i] < 20.0f;
      const float noisy = static_cast<float>(expected[i] + kSigma * rays.deviates[i]);
      expected[i] = expected_hits[i] ? std::max(std::min(noisy, 10.0f), 0.0f) : 10.0f;
      below += noisy < 0;
    }
    mark_hits(rays.range, 20.0f, hits.data());
    disturb_ranges(kSigma, rays.deviates, 20.0f, 10.0f, rays.range.data());
    ASSERT_TRUE(same_bits(expected, rays.range)) << count << " rays";
    ASSERT_TRUE(same_bits(expected_hits, hits)) << count << " rays";
  }
  EXPECT_GT(below, 10) << "noise beyond the sensor is tried";
}

TEST_P(EveryTarget, ValuesAreClippedAndNormalizedAsOneByOne) {
  const ScopedSimdTarget use(GetParam());
  for (const size_t count : {0, 1, 3, 7, 16, 17, 361}) {
    RandomStream random(count, 1, StreamPurpose::kSensorNoise);
    std::vector<float> low, high, values;
    for (size_t i = 0; i < count; ++i) {
      low.push_back(i % 3 == 0 ? 0.0f : static_cast<float>(random.uniform(-2, 1)));
      high.push_back(i % 6 == 5 ? low.back() : low.back() + static_cast<float>(random.uniform(0, 2)));
      values.push_back(static_cast<float>(random.uniform(-3, 3)));
    }
    std::vector<float> clipped = values, mapped;
    for (size_t i = 0; i < count; ++i) {
      clipped[i] = std::min(std::max(values[i], low[i]), high[i]);
      const float share = high[i] > low[i] ? (clipped[i] - low[i]) / (high[i] - low[i]) : 0.0f;
      mapped.push_back(low[i] < 0 ? 2 * share - 1 : share);
    }
    clip_values(low.data(), high.data(), values);
    ASSERT_TRUE(same_bits(clipped, values)) << count << " values";
    normalize_values(low.data(), high.data(), values);
    ASSERT_TRUE(same_bits(mapped, values)) << count << " values";
  }
}

TEST_P(EveryTarget, ReturnsAreDisturbedAndDropOutBeyondTheirRange) {
  const ScopedSimdTarget use(GetParam());
  int dropped = 0;
  for (const bool keeps_high : {false, true})
    for (const size_t count : {0, 1, 3, 7, 16, 17, 361}) {
      Rays rays = random_rays(count);
      for (size_t i = 0; i < count; i += 4) rays.range[i] = 0;
      std::vector<float> expected = rays.range, replaced;
      for (size_t i = 0; i < count; ++i) {
        const float noisy = static_cast<float>(expected[i] + 2.0 * rays.deviates[i]);
        if (expected[i] == 0) {
        } else if (noisy > 9 || (noisy == 9 && !keeps_high)) {
          if (!keeps_high) expected[i] = 0;
        } else {
          expected[i] = noisy > 0.5f ? noisy : 0;
        }
        dropped += expected[i] == 0 && rays.range[i] != 0;
        replaced.push_back(expected[i] == 0 ? 4.5f : expected[i]);
      }
      disturb_returns(2.0, rays.deviates, 0.5f, 9, keeps_high, rays.range.data());
      ASSERT_TRUE(same_bits(expected, rays.range)) << count << " returns";
      replace_zeros(4.5f, rays.range);
      ASSERT_TRUE(same_bits(replaced, rays.range)) << count << " returns";
    }
  EXPECT_GT(dropped, 10);
}

INSTANTIATE_TEST_SUITE_P(VectorKernels, EveryTarget, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace mvsim::vector_kernels_test
