// Points in the shade of random triangles, against the sign of areas and the height of the triangle there.
#include "raycast/triangle_raster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/geometry3.h"
#include "base/random.h"
#include "base/simd.h"

namespace mvsim::shadow_raster_test {
namespace {

double area2(Vec3 a, Vec3 b, Vec3 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Whether the triangle is above the point, by barycentric weights.
bool covers(const std::array<Vec3, 3>& t, Vec3 p) {
  const double all = area2(t[0], t[1], t[2]);
  const double wa = area2(p, t[1], t[2]) / all, wb = area2(t[0], p, t[2]) / all, wc = 1 - wa - wb;
  return std::min({wa, wb, wc}) >= 0 && wa * t[0].z + wb * t[1].z + wc * t[2].z > p.z;
}

TEST(ShadowRaster, RandomPointsOnEveryInstructionSet) {
  RandomStream random(3, 0, StreamPurpose::kSensorNoise);
  const auto point = [&] {
    return Vec3{random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)};
  };
  int blocked = 0;
  for (size_t count = 0; count <= SunPoints::kMost; ++count) {
    std::vector<std::array<Vec3, 3>> corners;
    std::vector<SunTriangle> triangles;
    for (int i = 0; i < 5; ++i) {
      corners.push_back({point(), point(), point()});
      ASSERT_TRUE(make_sun_triangle(corners.back(), triangles.emplace_back()));
    }
    SunPoints points;
    points.count = count;
    points.extent = {-3, 3, -3, 3};
    points.lowest = -3;
    for (size_t i = 0; i < count; ++i) {
      const Vec3 p = point();
      points.u[i] = p.x, points.v[i] = p.y, points.h[i] = p.z;
    }
    for (const std::string& target : simd_targets()) {
      const ScopedSimdTarget use(target);
      points.blocked.fill(0);
      block_points(triangles, points);
      for (size_t i = 0; i < count; ++i) {
        const bool expected = std::ranges::any_of(corners, [&](const std::array<Vec3, 3>& t) {
          return covers(t, {points.u[i], points.v[i], points.h[i]});
        });
        ASSERT_EQ(points.blocked[i] != 0, expected) << target << ", " << i << " of " << count;
        blocked += expected;
      }
    }
  }
  EXPECT_GT(blocked, 1000);
}

TEST(ShadowRaster, PointsOnRaysHaveTheBitsOfEach) {
  RandomStream random(4, 0, StreamPurpose::kSensorNoise);
  RayGrid grid{.width = 16, .height = 1, .a = {}, .b = {}, .slope = {0.3}, .length = {0.9}};
  for (int c = 0; c < grid.width; ++c) {
    grid.a.push_back(random.uniform(-1, 1));
    grid.b.push_back(random.uniform(-1, 1));
  }
  const SunRay ray{.axes = {GridFunction{1, 0.2, -0.3}, {0.1, -0.7, 0.5}, {0.6, 0.4, 0.8}},
                   .lift = {0.1, -0.2, 0.9},
                   .gap = 1e-3};
  std::array<double, 16> distances{};
  for (double& distance : distances) distance = random.uniform(0.1, 20);
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    SunPoints points;
    for (const int column : {8, 0}) add_block(ray, grid, 0, column, distances.data() + column, points);
    points.count = 11;  // of a group that is not full
    enclose(points);
    Rect extent{9e9, -9e9, 9e9, -9e9};
    double lowest = 9e9;
    for (size_t i = 0; i < points.count; ++i) {
      const int column = static_cast<int>(i < 8 ? 8 + i : i - 8);
      const Vec3 p = ray.point(grid, 0, column, distances[static_cast<size_t>(column)]);
      ASSERT_TRUE(p == (Vec3{points.u[i], points.v[i], points.h[i]})) << target << ", " << i;
      extent = {std::min(extent.x_min, p.x), std::max(extent.x_max, p.x), std::min(extent.y_min, p.y),
                std::max(extent.y_max, p.y)};
      lowest = std::min(lowest, p.z);
    }
    EXPECT_EQ(points.extent.x_min, extent.x_min);
    EXPECT_EQ(points.extent.x_max, extent.x_max);
    EXPECT_EQ(points.extent.y_min, extent.y_min);
    EXPECT_EQ(points.extent.y_max, extent.y_max);
    EXPECT_EQ(points.lowest, lowest);
  }
}

TEST(ShadowRaster, ATriangleAlongTheSunHasNoShadow) {
  SunTriangle triangle;
  EXPECT_FALSE(make_sun_triangle({Vec3{0, 0, 0}, {1, 1, 5}, {2, 2, -3}}, triangle));
}

}  // namespace
}  // namespace mvsim::shadow_raster_test
