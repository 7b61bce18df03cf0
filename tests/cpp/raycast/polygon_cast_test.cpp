// The polygon kernel and the set of static shapes against an edge-by-edge oracle that looks at every polygon
// for every beam, and against analytic shapes. Ranges within 1e-4 m; a ray within 1e-5 m of a corner may hit
// or pass.
#include "raycast/polygon_cast.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/simd.h"
#include "raycast/beams.h"
#include "raycast/reference.h"
#include "raycast/scenes.h"
#include "raycast/static_shapes.h"

namespace mvsim::polygon_cast_test {
namespace {

using test::Beams;
using test::cast_set;
using test::Dice;
using test::kNoHit;
using test::random_convex;
using test::random_polygons;
using test::Ray;
using test::same_bits;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kExact = 1e-4, kBlur = 1e-5;

std::vector<float> cast_each(const Fan& fan, const std::vector<Polygon>& polygons, double max_range) {
  std::vector<float> range(fan.count, kInfinity);
  for (const Polygon& polygon : polygons) cast_polygon(fan, polygon, max_range, range.data());
  return range;
}

// All in one row, whose later polygons may be hidden by the earlier ones.
std::vector<float> cast_row(const Fan& fan, const std::vector<Polygon>& polygons, double max_range) {
  std::vector<float> range(fan.count, kInfinity);
  PolygonRow row(fan, max_range, range.data());
  for (const Polygon& polygon : polygons) row.add(polygon, bounding_circle(polygon));
  row.cast();
  return range;
}

// The nearest and the farthest answer that blurred polygons allow.
::testing::AssertionResult allowed(const std::vector<Polygon>& polygons, const Ray& ray, double max_range,
                                   float range) {
  double sure = kNoHit, min_sure = kNoHit;
  bool found = false;
  for (const Polygon& polygon : polygons) {
    const double wide = test::polygon_range(polygon, ray, kBlur),
                 exact = test::polygon_range(polygon, ray, 0);
    const double narrow = test::polygon_range(polygon, ray, -kBlur);
    if (exact <= max_range + kExact && std::fabs(exact - range) <= kExact) found = true;
    if (narrow == kNoHit && wide <= max_range + kExact && range > wide - kExact &&
        range < wide + 100 * kExact)
      found = true;  // at a corner the blurred range is only near
    if (exact != kNoHit && narrow != kNoHit) sure = std::min(sure, exact);
    if (std::min({exact, wide, narrow}) != kNoHit) min_sure = std::min(min_sure, std::min(exact, wide));
  }
  if (range == kInfinity) found = sure > max_range - kExact;
  if (found && (range <= sure + kExact || range == kInfinity)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "range " << range << ", expected " << sure << " or from " << min_sure;
}

void expect_exact(const std::vector<Polygon>& polygons, const Beams& beams, double max_range) {
  const std::vector<float> each = cast_each(beams.fan, polygons, max_range);
  ASSERT_TRUE(same_bits(each, cast_set(beams.fan, polygons, max_range)));
  ASSERT_TRUE(same_bits(each, cast_row(beams.fan, polygons, max_range)));
  for (int i = 0; i < beams.fan.count; ++i)
    ASSERT_TRUE(allowed(polygons, beams.ray(i), max_range, each[i])) << "beam " << i;
}

double random_aperture(Dice& dice) {
  return dice.one_in(3) ? 2 * kPi : dice.uniform(0.01, 2 * kPi);
}

TEST(PolygonCast, ThousandRandomScenesAgreeWithBruteForce) {
  Dice dice(30);
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    const double size = dice.one_in(3) ? 2 : 20;
    const std::vector<Polygon> polygons = random_polygons(dice, 1 + dice.below(20), size);
    const Pose2 pose{dice.uniform(-size, size), dice.uniform(-size, size), dice.uniform(-9, 9)};
    const Beams beams(pose, 1 + dice.below(120), random_aperture(dice));
    expect_exact(polygons, beams, dice.one_in(3) ? dice.uniform(0.1, 1) * size : 4 * size);
    if (HasFatalFailure()) return;
  }
}

TEST(PolygonCast, EveryInstructionSetGivesTheSameBits) {
  Dice dice(31);
  const std::vector<std::string> targets = simd_targets();
  for (int i = 0; i < 200; ++i) {
    const std::vector<Polygon> polygons = random_polygons(dice, 1 + dice.below(20), 10);
    const Beams beams({dice.uniform(-10, 10), dice.uniform(-10, 10), dice.uniform(-4, 4)},
                      1 + dice.below(200), random_aperture(dice));
    const std::vector<float> expected = cast_set(beams.fan, polygons, 30);
    for (const std::string& target : targets) {
      const ScopedSimdTarget use(target);
      ASSERT_TRUE(same_bits(expected, cast_set(beams.fan, polygons, 30))) << target << ", scene " << i;
    }
  }
}

// A regular polygon seen from outside: range = apothem / cos from the nearest face, beam by beam.
TEST(PolygonCast, RegularPolygonIsAnalytic) {
  Polygon hexagon;
  for (int i = 0; i < 6; ++i) hexagon.push_back(Vec2{5, 0} + Rotation2(kPi / 6 + i * kPi / 3).rotate({1, 0}));
  const Beams beams({0, 0, 0}, 181, kPi);
  const std::vector<float> range = cast_each(beams.fan, {hexagon}, 80);
  const double apothem = std::sqrt(3) / 2;
  for (int i = 0; i < beams.fan.count; ++i) {
    const double angle = -kPi / 2 + i * kPi / 180, y = (5 - apothem) * std::tan(angle);
    if (std::fabs(y) < 0.49) {
      EXPECT_NEAR(range[i], (5 - apothem) / std::cos(angle), 1e-6) << i;
    } else if (std::fabs(angle) > std::asin(1.0 / 5)) {
      EXPECT_EQ(range[i], kInfinity) << i;
    }
  }
}

TEST(PolygonCast, GrazingWallStaysExact) {
  const Polygon wall{{0, 0.02}, {79, 0.02}, {79, 0.1}, {0, 0.1}};
  const Beams beams({0, 0, 0}, 2001, 0.2);
  const std::vector<float> range = cast_each(beams.fan, {wall}, 80);
  for (int i = 0; i < beams.fan.count; ++i) {
    const double expected = beams.dy[i] > 0 ? 0.02 / double{beams.dy[i]} : 1e9;
    if (expected < 78)
      EXPECT_NEAR(range[i], expected, 1e-5) << i;
    else
      EXPECT_EQ(range[i], kInfinity) << i;
  }
}

TEST(PolygonCast, OrientationDoesNotMatter) {
  Dice dice(32);
  const std::vector<Polygon> polygons = random_polygons(dice, 30, 10);
  std::vector<Polygon> reversed = polygons;
  for (Polygon& polygon : reversed) std::reverse(polygon.begin(), polygon.end());
  const Beams beams({0.1, 0.2, 0.3}, 360, 2 * kPi);
  const std::vector<float> a = cast_each(beams.fan, polygons, 30), b = cast_each(beams.fan, reversed, 30);
  for (int i = 0; i < 360; ++i)
    if (a[i] != b[i]) {
      EXPECT_NEAR(a[i], b[i], 1e-6);
    }
}

TEST(PolygonCast, StartInsideDoesNotHit) {
  const Polygon square{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  const Polygon beyond{{2, -1}, {3, -1}, {3, 1}, {2, 1}};
  const Beams beams({0.5, 0.2, 0}, 9, 2 * kPi);
  for (const float range : cast_each(beams.fan, {square}, 80)) EXPECT_EQ(range, kInfinity);
  EXPECT_FLOAT_EQ(cast_each(beams.fan, {square, beyond}, 80)[4], 1.5f);
}

// Beams aimed at the seam of two boxes that share an edge, from the front and along the seam itself.
TEST(PolygonCast, NoRayPassesBetweenAdjacentPolygons) {
  Dice dice(33);
  for (int i = 0; i < 3000; ++i) {
    const double turn = dice.uniform(-kPi, kPi);
    const Vec2 at{dice.uniform(-50, 50), dice.uniform(-50, 50)};
    const Pose2 place{at.x, at.y, turn};
    const auto put = [&](Polygon polygon) {
      for (Vec2& v : polygon) v = transform(place, v);
      return polygon;
    };
    const std::vector<Polygon> boxes{put({{-1, 0}, {0, 0}, {0, 1}, {-1, 1}}),
                                     put({{0, 0}, {1, 0}, {1, 1}, {0, 1}})};
    const Vec2 eye = transform(place, {dice.one_in(2) ? 0.0 : dice.uniform(-1, 1), -dice.uniform(0.5, 5)});
    const Vec2 to = at - eye;
    const Beams beams({eye.x, eye.y, math::atan2(to.y, to.x)}, 1, 0);
    ASSERT_NEAR(cast_each(beams.fan, boxes, 80)[0], norm(to), kExact) << i;
  }
}

TEST(PolygonCast, WallWithoutThickness) {
  const Beams beams({0, 0, 0}, 3, 0.2);
  for (const Polygon& wall : {Polygon{{2, -1}, {2, 1}}, Polygon{{2, -1}, {2, 0}, {2, 1}}}) {
    const std::vector<float> range = cast_each(beams.fan, {wall}, 80);
    EXPECT_NEAR(range[1], 2, 1e-6);
    EXPECT_NEAR(range[0], 2 / std::cos(0.1), 1e-6);
  }
  EXPECT_EQ(cast_each(beams.fan, {Polygon{{2, 0.1}, {2, 1}}}, 80)[1], kInfinity);
  EXPECT_NEAR(cast_each(beams.fan, {Polygon{{2, 0}, {4, 0}}}, 80)[1], 2, 1e-6);  // end on
  EXPECT_EQ(cast_each(beams.fan, {Polygon{{2, 0}, {2, 0}, {2, 0}}, Polygon{{2, 0}}}, 80)[1], kInfinity);
}

TEST(PolygonCast, MaxRangeAndNearerRangesHold) {
  const Polygon box{{2, -1}, {3, -1}, {3, 1}, {2, 1}};
  const Beams beams({0, 0, 0}, 1, 0);
  EXPECT_EQ(cast_each(beams.fan, {box}, 1.99)[0], kInfinity);
  EXPECT_EQ(cast_each(beams.fan, {box}, 2)[0], 2.0f);
  float nearer = 1.5f;
  cast_polygon(beams.fan, box, 80, &nearer);
  EXPECT_EQ(nearer, 1.5f);
}

// Beams over more than a turn and clockwise fans meet every copy of a shape.
TEST(PolygonCast, FansOfAnyExtent) {
  Dice dice(34);
  const std::vector<Polygon> polygons = random_polygons(dice, 12, 10);
  for (const double aperture : {4 * kPi, 7 * kPi, -2 * kPi, -0.5, 1e-6})
    expect_exact(polygons, Beams({0.3, 0.1, dice.uniform(-20, 20)}, 500, aperture), 40);
}

// A yaw counts whole turns: a day of turning makes 1e5 rad, which single precision rounds to 0.008 rad.
TEST(PolygonCast, AfterManyTurns) {
  Dice dice(36);
  const std::vector<Polygon> polygons = random_polygons(dice, 200, 10);
  for (const double turns : {1.0, 1e4, -1e5, 1e6, 1e18, -1e30})
    expect_exact(polygons, Beams({0.3, 0.1, 0.7 + turns * 2 * kPi}, 720, 2 * kPi), 40);
}

TEST(PolygonCast, FarFromTheWorldOrigin) {
  const Vec2 far{500000, 4000000};
  const Polygon box{far + Vec2{2, -1}, far + Vec2{3, -1}, far + Vec2{3, 1}, far + Vec2{2, 1}};
  const Beams beams({far.x, far.y, 0}, 3, 0.2);
  EXPECT_NEAR(cast_each(beams.fan, {box}, 80)[0], 2 / std::cos(0.1), 1e-6);
}

TEST(StaticShapes, ManyShapesCastLikeEachAlone) {
  Dice dice(35);
  std::vector<Polygon> polygons;
  for (int i = 0; i < 3000; ++i)
    polygons.push_back(
        random_convex(dice, {dice.uniform(-30, 30), dice.uniform(-30, 30)}, dice.uniform(0.05, 0.5)));
  for (int i = 0; i < 20; ++i) {
    const Beams beams({dice.uniform(-30, 30), dice.uniform(-30, 30), dice.uniform(-4, 4)}, 180,
                      random_aperture(dice));
    ASSERT_TRUE(same_bits(cast_each(beams.fan, polygons, 20), cast_set(beams.fan, polygons, 20))) << i;
  }
}

TEST(StaticShapes, EmptySetIsOpenSpace) {
  const StaticShapes shapes;
  const Beams beams({0, 0, 0}, 5, 1);
  std::vector<float> range(5, 7.0f);
  shapes.cast(beams.fan, 80, range.data());
  for (const float r : range) EXPECT_EQ(r, 7.0f);
  EXPECT_EQ(shapes.distance({0, 0}, 3), 3);
  EXPECT_EQ(shapes.distance(Polygon{{0, 0}, {1, 0}, {0, 1}}, {{0, 0}, 1}, 3), 3);
  std::vector<int> found{1, 2};
  shapes.within({0, 0}, 10, found);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace mvsim::polygon_cast_test
