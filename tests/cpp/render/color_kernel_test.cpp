// Colours of many pixels at once against those of one, on every instruction set.
#include "render/rays/tile_shading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "base/simd.h"
#include "render/shading.h"

namespace mvsim::color_kernel_test {
namespace {

class EveryTargetShades : public ::testing::TestWithParam<std::string> {};

RayGrid random_grid(RandomStream& random) {
  RayGrid grid{.width = RayGrid::kBlock, .height = 1, .a = {}, .b = {}, .slope = {}, .length = {}};
  for (int c = 0; c < grid.width; ++c) {
    grid.a.push_back(random.uniform(-1, 1));
    grid.b.push_back(1);
  }
  grid.slope = {random.uniform(-1, 1)};
  grid.length = {random.uniform(0.5, 1)};
  return grid;
}

TEST_P(EveryTargetShades, SurfacesHaveTheBitsOfEachPixel) {
  const ScopedSimdTarget use(GetParam());
  RandomStream random(1, 0, StreamPurpose::kSensorNoise);
  for (int i = 0; i < 100; ++i) {
    const RayGrid grid = random_grid(random);
    EvenSurface surface;
    for (size_t k = 0; k < 3; ++k) {
      surface.base[k] = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      surface.rest[k] = random.uniform(-1, 3);
    }
    const Rgb light{0.4F, 0.9F, 1.2F};
    std::array<double, RayGrid::kBlock> distances{};
    for (double& distance : distances) distance = random.uniform(0.1, 3);
    std::array<float, 3 * RayGrid::kBlock> colors{};
    even_colors(surface, light, grid, 0, 0, distances.data(), colors.data());
    for (int c = 0; c < RayGrid::kBlock; ++c) {
      const Rgb one = surface.color(grid, 0, c, distances[static_cast<size_t>(c)], light);
      ASSERT_EQ(0, std::memcmp(one.data(), &colors[3 * static_cast<size_t>(c)], sizeof one))
          << i << ": " << c;
    }
  }
}

TEST_P(EveryTargetShades, TheSkyIsThatOfOneDirection) {
  const ScopedSimdTarget use(GetParam());
  RandomStream random(2, 0, StreamPurpose::kSensorNoise);
  const Sky sky;
  for (int i = 0; i < 100; ++i) {
    const RayGrid grid = random_grid(random);
    // a camera that looks along x, tilted by so much
    const Rotation2 tilt(random.uniform(-kPi, kPi));
    const GridFunction up{0, tilt.s, -tilt.c};
    std::array<float, 3 * RayGrid::kBlock> colors{};
    sky_colors(sky, up, grid, 0, 0, RayGrid::kBlock, colors.data());
    for (size_t c = 0; c < RayGrid::kBlock; ++c) {
      const Vec3 direction{tilt.c + tilt.s * grid.slope[0], -grid.a[c], tilt.s - tilt.c * grid.slope[0]};
      const Rgb one = plain_sky_color(sky, direction);
      for (size_t k = 0; k < 3; ++k) ASSERT_NEAR(colors[3 * c + k], one[k], 1e-6) << i << ": " << c;
    }
  }
}

TEST_P(EveryTargetShades, BytesAreRounded) {
  const ScopedSimdTarget use(GetParam());
  for (size_t count = 0; count < 70; ++count) {
    std::vector<float> shares;
    for (size_t i = 0; i < count; ++i) shares.push_back(-0.1F + 0.0181F * static_cast<float>(i));
    std::vector<uint8_t> bytes(count + 1, 7);
    color_bytes(shares, bytes.data());
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(bytes[i], std::lround(255 * std::min(std::max(shares[i], 0.0F), 1.0F))) << shares[i];
    ASSERT_EQ(bytes[count], 7);
  }
}

INSTANTIATE_TEST_SUITE_P(ColorKernel, EveryTargetShades, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace mvsim::color_kernel_test
