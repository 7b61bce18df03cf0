// Constants that pin the bits of the ray kernels for every compiler, optimisation and machine.
#include <gtest/gtest.h>

#include "raycast/scenes.h"

namespace mvsim::golden_test {
namespace {

TEST(GoldenRays, Grids) {
  test::Dice dice(26);
  uint64_t hash = 0;
  for (int i = 0; i < 50; ++i) {
    const test::GridScene scene = test::random_scene(dice);
    const Vec2 origin = test::random_origin(dice, scene);
    hash = test::hash_bits(
        test::cast(test::field_of(scene), origin, test::make_scan(dice.uniform(-kPi, kPi), 100), 20), hash);
  }
  EXPECT_EQ(hash, 18379720368523114003ULL);
}

TEST(GoldenRays, Polygons) {
  test::Dice dice(36);
  uint64_t hash = 0;
  for (int i = 0; i < 50; ++i) {
    const std::vector<Polygon> polygons = test::random_polygons(dice, 20, 10);
    const test::Beams beams({dice.uniform(-10, 10), dice.uniform(-10, 10), dice.uniform(-4, 4)}, 100,
                            2 * kPi);
    hash = test::hash_bits(test::cast_set(beams.fan, polygons, 30), hash);
  }
  EXPECT_EQ(hash, 5715156375459304446ULL);
}

}  // namespace
}  // namespace mvsim::golden_test
