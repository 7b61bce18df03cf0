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
