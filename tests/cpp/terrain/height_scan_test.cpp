// Many heights at once: those of one look each, to the bit, on every instruction set.
#include "terrain/height_map.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "base/simd.h"

namespace mvsim::height_scan_test {
namespace {

HeightMap random_map(RandomStream& random, int rows, int columns) {
  std::vector<float> heights(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (float& h : heights) h = static_cast<float>(random.uniform(-2, 2));
  return {rows, columns, 0.3, {-2, 1}, std::move(heights)};
}

std::vector<float> looked_at(const HeightMap& map, Vec2 origin, const Rotation2& turn,
                             const std::vector<Vec2>& points, double z) {
  std::vector<float> out;
  for (const Vec2 p : points)
    out.push_back(static_cast<float>(map.height_at(origin + turn.rotate(p)).value_or(0) - z));
  return out;
}

TEST(HeightScan, SaysWhatALookAtEachPointSays) {
  RandomStream random(5, 0, StreamPurpose::kPlaceBlocks);
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    int inside = 0, outside = 0;
    for (const size_t count : {1, 2, 3, 7, 8, 9, 169}) {
      const HeightMap map = random_map(random, 20, 31);
      std::vector<Vec2> points(count);
      for (Vec2& p : points) p = {random.uniform(-3, 3), random.uniform(-3, 3)};
      points[0] = {0, 0};
      const Vec2 origin{random.uniform(-2, 4), random.uniform(1, 10)};
      const Rotation2 turn(random.uniform(-4, 4));
      std::vector<float> out(count);
      scan_heights(map, origin, turn, points, 0.25, out.data());
      EXPECT_EQ(out, looked_at(map, origin, turn, points, 0.25)) << target << ", " << count << " points";
      for (const float h : out) ++(h == -0.25f ? outside : inside);
    }
    EXPECT_GT(inside, 50) << target;
    EXPECT_GT(outside, 10) << target;
  }
}

TEST(HeightScan, BordersAreThoseOfTheMap) {
  const HeightMap map(3, 4, 1, {0, 0}, std::vector<float>(12, 5.0f));
  const std::vector<Vec2> points{{0, 0},     {2, 1},     {1.999, 2.999}, {1, 3},
                                 {-1e-9, 1}, {1, -1e-9}, {1e300, 0},     {NAN, 1}};
  std::vector<float> out(points.size());
  scan_heights(map, {}, {}, points, 0, out.data());
  EXPECT_EQ(out, (std::vector<float>{5, 0, 5, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace mvsim::height_scan_test
