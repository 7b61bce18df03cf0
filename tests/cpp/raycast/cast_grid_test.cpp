// The grid kernel against the brute-force caster: random scenes of rooms, boxes, lone cells, diagonals and
// unknown cells, each ray within 1e-4 m. A ray that passes within 1e-5 m of a border's end may give either
// neighbour's range, so the oracle lists what such a ray may say. All instruction sets must agree to the bit.
#include "raycast/grid_field.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/simd.h"
#include "raycast/reference.h"
#include "raycast/scenes.h"

namespace mvsim::cast_grid_test {
namespace {

using test::cast;
using test::Dice;
using test::empty_scene;
using test::field_of;
using test::fill;
using test::GridOracle;
using test::GridScene;
using test::kNoHit;
using test::make_scan;
using test::random_origin;
using test::random_scene;
using test::Ray;
using test::same_bits;
using test::Scan;

constexpr double kExact = 1e-4, kBlur = 1e-5;  // metres

// Whether the oracle allows the range; near max_range both hit and miss are right.
::testing::AssertionResult allowed(const GridOracle& oracle, const Ray& ray, double max_range, float range) {
  for (const double limit : {max_range - kExact, max_range + kExact})
    for (const double candidate : oracle.ranges(ray, limit, kBlur))
      if (candidate == range || std::fabs(candidate - range) <= kExact) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "range " << range << " from (" << ray.origin.x << ", " << ray.origin.y << ") along ("
         << ray.direction.x << ", " << ray.direction.y << ") up to " << max_range << " m, expected one of "
         << ::testing::PrintToString(oracle.ranges(ray, max_range, kBlur));
}

void expect_exact(const GridField& field, const GridOracle& oracle, Vec2 origin, const Scan& scan,
                  double max_range) {
  const std::vector<float> range = cast(field, origin, scan, max_range);
  for (int i = 0; i < scan.count(); ++i)
    ASSERT_TRUE(allowed(oracle, {origin, {scan.dx[i], scan.dy[i]}}, max_range, range[i])) << "beam " << i;
}

TEST(CastGrid, ThousandRandomScenesAgreeWithBruteForce) {
  Dice dice(20);
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    const GridScene scene = random_scene(dice);
    const double size = (scene.width + scene.height) * scene.resolution;
    const double max_range = dice.one_in(3) ? dice.uniform(0.1, 0.7) * size : 3 * size;
    const Vec2 origin = random_origin(dice, scene);
    const double yaw = dice.uniform(-kPi, kPi);
    expect_exact(field_of(scene), GridOracle(scene), origin, make_scan(yaw, 1 + dice.below(60)), max_range);
    if (HasFatalFailure()) return;
  }
}

TEST(CastGrid, EveryInstructionSetGivesTheSameBits) {
  Dice dice(21);
  const std::vector<std::string> targets = simd_targets();
  for (int i = 0; i < 300; ++i) {
    const GridScene scene = random_scene(dice);
    const GridField field = field_of(scene);
    const Vec2 origin = random_origin(dice, scene);
    const Scan scan = make_scan(dice.uniform(-kPi, kPi), 1 + dice.below(200));
    const double max_range = dice.uniform(0.1, 3) * scene.width * scene.resolution;
    const std::vector<float> expected = cast(field, origin, scan, max_range);
    for (const std::string& target : targets) {
      const ScopedSimdTarget use(target);
      ASSERT_STREQ(simd_level(), target.c_str());
      ASSERT_TRUE(same_bits(expected, cast(field, origin, scan, max_range))) << target << ", scene " << i;
    }
  }
}

// Ranges must not depend on which beams are cast together.
TEST(CastGrid, BeamsAloneGiveTheBitsOfTheWholeScan) {
  Dice dice(22);
  const GridScene scene = random_scene(dice);
  const GridField field = field_of(scene);
  const Vec2 origin{0.4 * scene.width * scene.resolution, 0.4 * scene.height * scene.resolution};
  const Scan scan = make_scan(0.3, 100);
  const std::vector<float> whole = cast(field, origin, scan, 50);
  for (int i = 0; i < scan.count(); ++i) {
    float alone = std::numeric_limits<float>::infinity();
    cast_grid(field, origin.x, origin.y, &scan.dx[i], &scan.dy[i], 1, 50, &alone);
    ASSERT_EQ(std::memcmp(&alone, &whole[i], sizeof alone), 0) << "beam " << i;
  }
}

TEST(CastGrid, WallAheadIsAtItsBorder) {
  GridScene scene = empty_scene(100, 100, 0.05);
  fill(scene, 80, 81, 0, 100, 1);
  const GridField field = field_of(scene);
  const Vec2 origin{1.0, 2.5};
  for (int degree = -80; degree <= 80; ++degree) {
    Scan scan;
    const SinCos sc = sin_cos(degree * kDegree);
    scan.add(sc.cos, sc.sin);
    const double expected = 3.0 / scan.dx[0], y = origin.y + expected * scan.dy[0];
    const std::vector<float> range = cast(field, origin, scan, 30);
    if (y > 0.01 && y < 4.99) {
      EXPECT_NEAR(range[0], expected, 1e-5) << degree;
    } else if (y < -0.01 || y > 5.01) {
      EXPECT_EQ(range[0], std::numeric_limits<float>::infinity()) << degree;
    }
  }
}

TEST(CastGrid, NoRayPassesBetweenDiagonalCells) {
  GridScene scene = empty_scene(40, 40, 0.1);
  for (int i = 0; i < 40; ++i)
    scene.at(i, 39 - i) = 1;  // a chain from corner to corner, closed only diagonally
  const GridField field = field_of(scene);
  Dice dice(23);
  for (int i = 0; i < 2000; ++i) {
    const Vec2 origin{dice.uniform(0, 1.5), dice.uniform(0, 1.5)};
    const int corner = 1 + dice.below(39);  // aim at the common corner of two cells
    const Vec2 to = Vec2{corner * 0.1, (40 - corner) * 0.1} - origin;
    Scan scan;
    scan.add(to.x / norm(to), to.y / norm(to));
    const double range = cast(field, origin, scan, 10)[0];
    ASSERT_GT(range, norm(to) - 0.15) << i;
    ASSERT_LT(range, norm(to) + kExact) << i;
  }
}

TEST(CastGrid, LongRaysStayExact) {
  Dice dice(24);
  GridScene scene = empty_scene(600, 600, 0.05);  // 30 m
  for (int i = 0; i < 60; ++i) scene.at(dice.below(600), dice.below(600)) = 1;
  fill(scene, 599, 600, 0, 600, 1);
  const GridField field = field_of(scene);
  const GridOracle oracle(scene);
  for (int i = 0; i < 8; ++i)
    expect_exact(field, oracle, {dice.uniform(0, 30), dice.uniform(0, 30)},
                 make_scan(dice.uniform(-3, 3), 60), 100);
}

TEST(CastGrid, TinyAndHugeCells) {
  Dice dice(25);
  for (const double resolution : {1e-3, 20.0}) {
    GridScene scene = empty_scene(50, 50, resolution);
    for (int i = 0; i < 30; ++i) scene.at(dice.below(50), dice.below(50)) = 1;
    const GridField field = field_of(scene);
    const Vec2 origin{25.3 * resolution, 24.9 * resolution};
    const Scan scan = make_scan(0.1, 90);
    const std::vector<float> range = cast(field, origin, scan, 1e4);
    const double exact = std::max(kExact, 1e-6 * 50 * resolution);  // floats of a kilometre end at 6e-5 m
    for (int i = 0; i < scan.count(); ++i) {
      const auto candidates = GridOracle(scene).ranges({origin, {scan.dx[i], scan.dy[i]}}, 1e4,
                                                       std::max(1e-6, 1e-6 * resolution));
      EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(),
                              [&](double c) { return c == range[i] || std::fabs(c - range[i]) <= exact; }))
          << resolution << " beam " << i << " range " << range[i];
    }
  }
}

TEST(CastGrid, UnknownCellsEndARay) {
  GridScene scene = empty_scene(10, 1, 1.0);
  scene.at(5, 0) = 2;
  scene.at(8, 0) = 1;
  Scan scan;
  scan.add(1, 0);
  EXPECT_EQ(cast(field_of(scene), {0.5, 0.5}, scan, 20)[0], std::numeric_limits<float>::infinity());
  EXPECT_FLOAT_EQ(cast(field_of(scene), {6.5, 0.5}, scan, 20)[0], 1.5f);
}

TEST(CastGrid, KeepsNearerRangesAndMaxRange) {
  GridScene scene = empty_scene(10, 1, 1.0);
  scene.at(8, 0) = 1;
  const GridField field = field_of(scene);
  const float dx = 1, dy = 0;
  const auto cast_from = [&](float before, double max_range) {
    cast_grid(field, 0.5, 0.5, &dx, &dy, 1, max_range, &before);
    return before;
  };
  EXPECT_EQ(cast_from(3.0f, 20), 3.0f);
  EXPECT_EQ(cast_from(20.0f, 20), 7.5f);
  EXPECT_EQ(cast_from(20.0f, 7.5), 7.5f);
  EXPECT_EQ(cast_from(20.0f, 7.4), 20.0f);
}

TEST(CastGrid, InsideOfAnOccupiedCellIsZero) {
  GridScene scene = empty_scene(3, 3, 1.0);
  scene.at(1, 1) = 1;
  for (const float range : cast(field_of(scene), {1.5, 1.5}, make_scan(0, 30), 9)) EXPECT_EQ(range, 0.0f);
}

// Rays and places that are not finite must neither crash nor hang nor hit.
TEST(CastGrid, NonsenseLeavesRangesAlone) {
  GridScene scene = empty_scene(20, 20, 0.5);
  fill(scene, 19, 20, 0, 20, 1);
  const GridField field = field_of(scene);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = kNoHit;
  Scan bad;
  for (const double v : {nan, inf, -inf, 0.0, 1e30, 1e-30}) bad.add(v, v);
  bad.add(3, 4);
  for (const float range : cast(field, {5, 5}, bad, 100))
    EXPECT_EQ(range, std::numeric_limits<float>::infinity());
  for (const double v : {nan, inf, -inf, 1e300, -1e9})
    for (const float range : cast(field, {v, 5}, make_scan(0, 10), 1e9))
      EXPECT_EQ(range, std::numeric_limits<float>::infinity());
  for (const float range : cast(field, {5, 5}, make_scan(0, 10), nan))
    EXPECT_EQ(range, std::numeric_limits<float>::infinity());
  EXPECT_FLOAT_EQ(cast(field, {5, 5}, make_scan(0, 1), inf)[0], 4.5f);
}

}  // namespace
}  // namespace mvsim::cast_grid_test
