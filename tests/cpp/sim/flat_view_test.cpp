// Views from the plane against plain rays: two ways to the same picture that share no code below the scene.
// They may differ at edges, where a ray falls on either side by rounding.
#include <gtest/gtest.h>

#include <set>

#include "sim/flat_worlds.h"

namespace mvsim::test {
namespace {

constexpr double kSameLabels = 0.995;
constexpr float kDepthTolerance = 1e-3F;  // m, of the contract between the ways to draw

void expect_contract(const BothWays& both, const std::string& what) {
  const auto labels = both.from_plane<uint16_t>(ViewContent::kLabels),
             wanted = both.by_rays<uint16_t>(ViewContent::kLabels);
  const auto depth = both.from_plane<float>(ViewContent::kDepth),
             exact = both.by_rays<float>(ViewContent::kDepth);
  ASSERT_EQ(labels.size(), wanted.size()) << what;
  ASSERT_EQ(depth.size(), exact.size()) << what;
  size_t same = 0, wrong = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != wanted[i]) continue;
    ++same;
    if (std::fabs(depth[i] - exact[i]) > kDepthTolerance) ++wrong;
  }
  EXPECT_GE(static_cast<double>(same), kSameLabels * static_cast<double>(labels.size())) << what;
  // equal labels on either side of an edge of one thing
  EXPECT_LE(static_cast<double>(wrong), 1e-3 * static_cast<double>(labels.size())) << what;
}

// Of each pixel whether it or one beside it differs from that on its right or below in label, depth or shade.
std::vector<bool> edges_of(const BothWays& both) {
  const auto labels = both.by_rays<uint16_t>(ViewContent::kLabels);
  const auto depth = both.by_rays<float>(ViewContent::kDepth);
  const auto shaded = both.by_rays<uint8_t>(ViewContent::kColor),
             lit = both.by_rays<uint8_t>(ViewContent::kColor, false);
  const auto width = static_cast<size_t>(both.view().width), height = labels.size() / width;
  const auto in_shade = [&](size_t i) { return std::abs(lit[3 * i] - shaded[3 * i]) > 2; };
  const auto differ = [&](size_t i, size_t j) {
    return labels[i] != labels[j] || in_shade(i) != in_shade(j) ||
           std::fabs(depth[i] - depth[j]) > 0.1F * depth[i];
  };
  std::vector<bool> edges(labels.size());
  for (size_t row = 0; row < height; ++row)
    for (size_t column = 0; column < width; ++column)
      for (size_t r = row > 0 ? row - 1 : 0; r <= std::min(row + 1, height - 1); ++r)
        for (size_t c = column > 0 ? column - 1 : 0; c <= std::min(column + 1, width - 1); ++c)
          if (differ(row * width + column, r * width + c)) edges[row * width + column] = true;
  return edges;
}

void expect_colors(const BothWays& both, const std::string& what) {
  const auto found = both.from_plane<uint8_t>(ViewContent::kColor),
             wanted = both.by_rays<uint8_t>(ViewContent::kColor);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  const std::vector<bool> edges = edges_of(both);
  size_t counted = 0, wrong = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i]) continue;
    ++counted;
    bool same = true;
    for (size_t k = 0; k < 3; ++k) same = same && std::abs(found[3 * i + k] - wanted[3 * i + k]) <= 2;
    if (!same) ++wrong;
  }
  EXPECT_GT(counted, edges.size() / 3) << what;
  EXPECT_LE(static_cast<double>(wrong), 0.01 * static_cast<double>(counted)) << what;
}

TEST(FlatView, HasTheColorsAndShadowsOfRays) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    Numbers random{std::mt19937(2000 + seed)};
    const Simulation simulation(
        model_of(kFloor + random_blocks(100 + seed, 40) + two_robots(level_camera(random.in(0.15, 1.8)))), 0);
    const BothWays both(simulation, 0, 1);
    ASSERT_EQ(both.view().content, ViewContent::kColor);
    expect_colors(both, "seed " + std::to_string(seed));
  }
}

TEST(FlatView, ShowsWhatRaysSee) {
  std::set<uint16_t> seen;
  for (unsigned seed = 0; seed < 32; ++seed) {
    Numbers random{std::mt19937(1000 + seed)};
    const double z = random.in(0.15, 1.8);
    const Simulation simulation(
        model_of(kFloor + random_blocks(seed, 40) +
                 two_robots(level_camera(z) + level_camera(0.5 * z, "170 0 0", "back") +
                            level_lidar(z, seed % 2 == 0))),
        0);
    for (size_t sensor = 0; sensor < 3; ++sensor) {
      const BothWays both(simulation, sensor, 0);
      ASSERT_TRUE(both.is_level());
      expect_contract(both, "seed " + std::to_string(seed) + ", sensor " + std::to_string(sensor));
      for (const uint16_t label : both.from_plane<uint16_t>(ViewContent::kLabels)) seen.insert(label);
    }
  }
  EXPECT_GT(seen.size(), 40U);
}

}  // namespace
}  // namespace mvsim::test
