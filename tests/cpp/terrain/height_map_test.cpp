// Which way columns run, borders that lie outside, and the two triangles of a cell.
#include "terrain/height_map.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mvsim::height_map_test {
namespace {

TEST(HeightMap, ColumnsRunAlongY) {
  const HeightMap map(2, 2, 1, {0, 0}, {0, 1, 0, 1});
  EXPECT_EQ(map.height_at({0.5, 0.25}), 0.25);
  EXPECT_EQ(map.height_at({0.1, 0.25}), 0.25);
}

TEST(HeightMap, UpperBordersAreOutside) {
  const HeightMap map(2, 2, 1, {0, 0}, {0, 1, 0, 1});
  EXPECT_TRUE(map.height_at({0, 0}));
  EXPECT_TRUE(map.height_at({0.999, 0.999}));
  for (const Vec2 outside : {Vec2{1, 0.5}, Vec2{0.5, 1}, Vec2{-1e-9, 0.5}, Vec2{0.5, -1e-9}, Vec2{1e300, 0},
                             Vec2{-INFINITY, 0}, Vec2{0, NAN}, Vec2{NAN, NAN}})
    EXPECT_FALSE(map.height_at(outside)) << outside.x << " " << outside.y;
}

TEST(HeightMap, IsLinearOnEachTriangle) {
  // z00 = 1, z01 = 2, z10 = 4, z11 = 8, cells of 2 m from (10, 20) on
  const HeightMap map(2, 2, 2, {10, 20}, {1, 2, 4, 8});
  const auto above_diagonal = [](double a, double b) { return 1 + (8 - 2) * a + (2 - 1) * b; };
  const auto below_diagonal = [](double a, double b) { return 1 + (4 - 1) * a + (8 - 4) * b; };
  EXPECT_NEAR(*map.height_at({10.5, 21.5}), above_diagonal(0.25, 0.75), 1e-12);
  EXPECT_NEAR(*map.height_at({11.5, 20.5}), below_diagonal(0.75, 0.25), 1e-12);
  EXPECT_NEAR(*map.height_at({11, 21}), 4.5, 1e-12) << "on the diagonal from z00 to z11";
}

TEST(HeightMap, KnowsItsExtent) {
  const HeightMap map(3, 5, 0.5, {-1, 2}, std::vector<float>(15, 0.25f));
  const Rect extent = map.extent();
  EXPECT_EQ(extent.x_max, 0);
  EXPECT_EQ(extent.y_max, 4);
  EXPECT_EQ(map.highest(), 0.25);
  EXPECT_EQ(map.height_at({-0.3, 3.9}), 0.25);
}

}  // namespace
}  // namespace mvsim::height_map_test
