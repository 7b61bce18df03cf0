// Rasters against rays one by one: each pixel's ray and each triangle by Moeller and Trumbore's formula, in
// double precision. They may differ where a ray passes along an edge, and nowhere else.
#include "raycast/triangle_raster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/geometry3.h"
#include "base/random.h"
#include "base/simd.h"

namespace mvsim::triangle_raster_test {
namespace {

constexpr double kNear = 0.2, kFar = 30;

struct Triangle {
  std::array<Vec3, 3> corners;
};

// A pinhole of 90 degrees: rays (a, slope, 1).
RayGrid pinhole(int width, int height) {
  RayGrid grid{.width = width, .height = height, .a = {}, .b = {}, .slope = {}, .length = {}};
  grid.a.assign(tile_stride(width), 0);
  grid.b.assign(tile_stride(width), 1);
  for (int c = 0; c < width; ++c) grid.a[static_cast<size_t>(c)] = (c - width / 2.0) / (width / 2.0);
  for (int r = 0; r < height; ++r) {
    grid.slope.push_back((r - height / 2.0) / (width / 2.0));
    grid.length.push_back(1 + 0.1 * r);  // as rings have it
  }
  return grid;
}

Vec3 ray_of(const RayGrid& grid, int row, int column) {
  const auto r = static_cast<size_t>(row);
  return grid.length[r] * Vec3{grid.a[static_cast<size_t>(column)], grid.slope[r], 1};
}

RasterTriangle made(const Triangle& t, uint64_t id, const PixelRect& rect) {
  const auto& [a, b, c] = t.corners;
  const Vec3 normal = cross(b - a, c - a);
  const double to_plane = dot(normal, a), side = to_plane > 0 ? 1 : -1;
  const auto function = [](Vec3 v) { return GridFunction{v.x, v.z, v.y}; };
  return {.sides = {function(side * cross(b, c)), function(side * cross(c, a)), function(side * cross(a, b))},
          .nearness = function((1 / to_plane) * normal),
          .rect = rect,
          .id = id};
}

// Distance in lengths of the ray; 0: it does not meet the triangle. `at_edge`: by so little that rounding
// decides.
double cast(const Triangle& t, Vec3 ray, bool& at_edge) {
  const Vec3 ab = t.corners[1] - t.corners[0], ac = t.corners[2] - t.corners[0];
  const Vec3 p = cross(ray, ac), from = -1.0 * t.corners[0], q = cross(from, ab);
  const double det = dot(ab, p);
  const double u = dot(from, p) / det, v = dot(ray, q) / det, distance = dot(ac, q) / det;
  const double least = std::min({u, v, 1 - u - v});
  at_edge = std::fabs(least) < 1e-9;
  return least >= 0 && distance >= kNear && distance <= kFar ? distance : 0;
}

struct Scene {
  std::vector<Triangle> triangles;
  explicit Scene(uint64_t seed) {
    RandomStream random(seed, 0, StreamPurpose::kSensorNoise);
    const auto coordinate = [&](double size) { return random.uniform(-size, size); };
    for (int i = 0; i < 40; ++i) {
      const Vec3 center{coordinate(8), coordinate(8),
                        coordinate(12)};  // some of them behind, or on both sides
      Triangle& t = triangles.emplace_back();
      for (Vec3& corner : t.corners) corner = center + Vec3{coordinate(4), coordinate(4), coordinate(4)};
    }
  }
};

RasterTile drawn(const Scene& scene, const RayGrid& grid, const PixelRect& rect) {
  std::vector<RasterTriangle> triangles;
  for (size_t i = 0; i < scene.triangles.size(); ++i)
    triangles.push_back(made(scene.triangles[i], i, {0, grid.width, 0, grid.height}));
  RasterTile tile;
  clear_tile(grid, rect, kNear, kFar, tile);
  draw_triangles(triangles, grid, tile);
  set_distances(grid, tile);
  return tile;
}

TEST(TriangleRaster, RandomTrianglesAreThoseThatRaysMeetOneByOne) {
  int seen = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Scene scene(seed);
    const RayGrid grid = pinhole(37, 21);
    for (const PixelRect rect : {PixelRect{0, 37, 0, 21}, PixelRect{8, 29, 5, 17}}) {
      const RasterTile tile = drawn(scene, grid, rect);
      for (int row = rect.top; row < rect.bottom; ++row)
        for (int column = rect.left; column < rect.right; ++column) {
          double expected = 0;
          bool any_edge = false;
          for (const Triangle& t : scene.triangles) {
            bool at_edge = false;
            const double distance = cast(t, ray_of(grid, row, column), at_edge);
            any_edge |= at_edge;
            if (distance > 0 && (expected == 0 || distance < expected)) expected = distance;
          }
          const size_t pixel =
              static_cast<size_t>(row - rect.top) * tile.stride + static_cast<size_t>(column - rect.left);
          if (any_edge) continue;
          ASSERT_NEAR(tile.distance[pixel], expected, 1e-9 * (1 + expected))
              << seed << ": " << row << ", " << column;
          ASSERT_EQ(tile.id[pixel] == RasterTile::kNothing, expected == 0);
          seen += expected > 0;
        }
    }
  }
  EXPECT_GT(seen, 1000);
}

// Strips of four rows are drawn row by row; blocks of many rows are left out where a triangle is not.
TEST(TriangleRaster, StripsOfFewRowsHaveTheSameBits) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Scene scene(seed);
    const RayGrid grid = pinhole(40, 32);
    const RasterTile whole = drawn(scene, grid, {0, 40, 0, 32});
    for (int top = 0; top < 32; top += 4) {
      const RasterTile strip = drawn(scene, grid, {0, 40, top, top + 4});
      const size_t begin = static_cast<size_t>(top) * whole.stride, count = 4 * strip.stride;
      ASSERT_EQ(strip.stride, whole.stride);
      EXPECT_EQ(std::memcmp(&strip.nearness[0], &whole.nearness[begin], count * sizeof(double)), 0) << seed;
      EXPECT_EQ(std::memcmp(&strip.id[0], &whole.id[begin], count * sizeof(uint64_t)), 0) << seed;
    }
  }
}

TEST(TriangleRaster, EveryInstructionSetGivesTheSameBits) {
  const RayGrid grid = pinhole(61, 33);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Scene scene(seed);
    const RasterTile expected = drawn(scene, grid, {0, 61, 0, 33});
    for (const std::string& target : simd_targets()) {
      const ScopedSimdTarget use(target);
      const RasterTile tile = drawn(scene, grid, {0, 61, 0, 33});
      for (int row = 0; row < 33; ++row) {
        const size_t begin = static_cast<size_t>(row) * tile.stride;
        ASSERT_EQ(0, std::memcmp(&tile.distance[begin], &expected.distance[begin], 61 * sizeof(double)))
            << target;
        ASSERT_EQ(0, std::memcmp(&tile.id[begin], &expected.id[begin], 61 * sizeof(uint64_t))) << target;
      }
    }
  }
}

// A fan of triangles about a point that a ray goes through, its rim outside: every ray meets one of them,
// those along shared edges too.
TEST(TriangleRaster, NoRaySlipsThroughSharedEdges) {
  const RayGrid grid = pinhole(64, 64);
  for (int count = 3; count < 40; ++count) {
    Scene scene(0);
    scene.triangles.clear();
    std::vector<Vec3> rim;
    for (int i = 0; i < count; ++i) {
      const Rotation2 turn(2 * kPi * i / count);
      rim.push_back({50 * turn.c, 50 * turn.s, 3 + 0.1 * (i % 3)});
    }
    for (size_t i = 0; i < rim.size(); ++i)
      scene.triangles.push_back({{Vec3{0, 0, 3}, rim[i], rim[(i + 1) % rim.size()]}});
    for (const uint64_t id : drawn(scene, grid, {0, 64, 0, 32}).id)
      ASSERT_NE(id, RasterTile::kNothing) << count;
  }
}

TEST(TriangleRaster, LimitsBelongToTheRange) {
  const RayGrid grid = pinhole(8, 1);
  for (const double z : {kNear, kFar, 0.99 * kNear, 1.01 * kFar}) {
    Scene scene(0);
    scene.triangles = {{{Vec3{-100, -100, z}, {300, -100, z}, {-100, 300, z}}}};
    const RasterTile tile = drawn(scene, grid, {0, 8, 0, 1});
    EXPECT_EQ(tile.id[3] == 0, z == kNear || z == kFar) << z;
  }
}

TEST(TriangleRaster, DistancesAreCopiedUpToTheFarthest) {
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    for (size_t count = 0; count < 20; ++count) {
      std::vector<double> distances;
      for (size_t i = 0; i < count; ++i) distances.push_back(0.7 * static_cast<double>(i));
      std::vector<float> out(count + 1, -1);
      copy_distances(distances, 7, out.data());
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(out[i], distances[i] <= 7 ? static_cast<float>(distances[i]) : 0);
      EXPECT_EQ(out[count], -1);
    }
  }
}

}  // namespace
}  // namespace mvsim::triangle_raster_test
