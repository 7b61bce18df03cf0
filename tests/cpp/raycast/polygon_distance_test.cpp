// Distances against dense sampling of borders, known figures, and each other.
#include "raycast/polygon_cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "raycast/scenes.h"
#include "raycast/static_shapes.h"

namespace mvsim::polygon_distance_test {
namespace {

using test::Dice;
using test::random_convex;

const Polygon kSquare{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
const Polygon kCorner{{0, 0}, {4, 0}, {4, 1}, {1, 1}, {1, 4}, {0, 4}};  // an L

Polygon moved(Polygon polygon, const Pose2& pose) {
  for (Vec2& v : polygon) v = transform(pose, v);
  return polygon;
}

// Points of the border, `step` apart or less.
Polygon sampled(const Polygon& polygon, double step) {
  Polygon points;
  for (size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Vec2 edge = polygon[i] - polygon[j];
    const int n = 1 + static_cast<int>(norm(edge) / step);
    for (int k = 0; k < n; ++k) points.push_back(polygon[j] + (static_cast<double>(k) / n) * edge);
  }
  return points;
}

TEST(PolygonDistance, KnownFigures) {
  EXPECT_EQ(polygon_point_distance(kSquare, {0.5, 0.5}), 0);
  EXPECT_EQ(polygon_point_distance(kSquare, {1, 0.5}), 0);
  EXPECT_DOUBLE_EQ(polygon_point_distance(kSquare, {3, 0.5}), 2);
  EXPECT_DOUBLE_EQ(polygon_point_distance(kSquare, {4, 5}), 5);
  const Polygon segment{{0, 0}, {2, 0}}, point{{1, 1}, {1, 1}};
  EXPECT_DOUBLE_EQ(polygon_point_distance(segment, {1, 3}), 3);
  EXPECT_DOUBLE_EQ(polygon_point_distance(point, {4, 5}), 5);
  EXPECT_DOUBLE_EQ(polygon_point_distance(kCorner, {2, 2}), 1);
  EXPECT_DOUBLE_EQ(polygon_distance(kSquare, moved(kSquare, {3, 0.5, 0})), 2);
  EXPECT_EQ(polygon_distance(kSquare, moved(kSquare, {1, 0, 0})), 0);  // touching
  EXPECT_EQ(polygon_distance(kCorner, moved(kSquare, {2, 2, 0})), 1);
}

TEST(PolygonDistance, OverlapsOfEveryKindAreZero) {
  const Polygon cross_bar{
      {-1, 0.4}, {2, 0.4}, {2, 0.6}, {-1, 0.6}};  // no vertex of either inside of the other
  EXPECT_EQ(polygon_distance(kSquare, cross_bar), 0);
  const Polygon within{{0.4, 0.4}, {0.6, 0.4}, {0.5, 0.6}};
  EXPECT_EQ(polygon_distance(kSquare, within), 0);
  EXPECT_EQ(polygon_distance(within, kSquare), 0);
  EXPECT_EQ(polygon_distance(kSquare, kSquare), 0);
  EXPECT_EQ(polygon_distance(kSquare, moved(kSquare, {0.5, 0, 0})), 0);  // shared lines
}

TEST(PolygonDistance, ZeroInsideAndOnTheBorder) {
  EXPECT_EQ(polygon_point_distance(kCorner, {0.5, 3}), 0);
  EXPECT_GT(polygon_point_distance(kCorner, {2, 2}), 0);
  EXPECT_EQ(polygon_point_distance(kCorner, {4, 1}), 0);
  EXPECT_EQ(polygon_point_distance(kCorner, {2, 0}), 0);
  Polygon clockwise = kCorner;
  std::reverse(clockwise.begin(), clockwise.end());
  EXPECT_EQ(polygon_point_distance(clockwise, {0.5, 3}), 0);
  EXPECT_GT(polygon_point_distance(Polygon{}, {0, 0}), 0);
}

TEST(PolygonDistance, AgreesWithSampling) {
  Dice dice(40);
  for (int i = 0; i < 300; ++i) {
    const Polygon a = random_convex(dice, {0, 0}, 1);
    const Polygon b = random_convex(dice, {dice.uniform(-3, 3), dice.uniform(-3, 3)}, 1);
    const double distance = polygon_distance(a, b), step = 0.02;
    ASSERT_EQ(distance, polygon_distance(b, a));
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec2 p : sampled(b, step)) nearest = std::min(nearest, polygon_point_distance(a, p));
    if (polygon_point_distance(b, a[0]) == 0) nearest = 0;
    ASSERT_LE(distance, nearest + 1e-12) << i;
    ASSERT_GE(distance, nearest - step) << i;
  }
}

TEST(StaticShapes, DistancesAndNeighboursAgreeWithEachShape) {
  Dice dice(41);
  std::vector<Polygon> polygons;
  for (int i = 0; i < 500; ++i)
    polygons.push_back(
        random_convex(dice, {dice.uniform(-9, 9), dice.uniform(-9, 9)}, dice.uniform(0.02, 0.6)));
  const StaticShapes shapes(polygons);
  std::vector<int> found;
  double sum = 0, sum_of_bounds = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec2 p{dice.uniform(-12, 12), dice.uniform(-12, 12)};
    const double limit = dice.uniform(0, 2);
    const Polygon outline = random_convex(dice, p, dice.uniform(0.05, 0.8));
    double of_point = limit, of_outline = limit;
    std::vector<int> expected;
    for (int k = 0; k < shapes.size(); ++k) {
      const double distance = polygon_point_distance(polygons[k], p);
      of_point = std::min(of_point, distance);
      of_outline = std::min(of_outline, polygon_distance(outline, polygons[k]));
      if (distance <= limit) expected.push_back(k);
    }
    ASSERT_EQ(shapes.distance(p, limit), of_point);
    ASSERT_EQ(shapes.distance(outline, bounding_circle(outline), limit), of_outline);
    const double bound = shapes.distance_at_least(outline, bounding_circle(outline), limit);
    ASSERT_GE(bound, 0);
    ASSERT_LE(bound, of_outline + 1e-12);
    sum += of_outline;
    sum_of_bounds += bound;
    shapes.within(p, limit, found);
    ASSERT_EQ(found, expected);
  }
  EXPECT_GT(sum_of_bounds, 0.8 * sum);
}

TEST(OutlineSides, KnownFigures) {
  const OutlineSides sides(kSquare);  // of side 1 from (0, 0) on
  EXPECT_DOUBLE_EQ(sides.beyond({3, 0.5}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(sides.beyond({0.5, 0.5}, 0.25), -0.75);
  EXPECT_DOUBLE_EQ(sides.beyond(Polygon{{3, 0}, {4, 1}, {2.5, 4}}), 1.5);
  EXPECT_LT(sides.beyond(Polygon{{0.5, 0.5}, {4, 1}, {2.5, 4}}), 0);
}

TEST(StaticShapes, FiftyThousandCoincidentShapes) {
  const StaticShapes shapes(std::vector<Polygon>(50000, kSquare));
  EXPECT_DOUBLE_EQ(shapes.distance({3, 0.5}, 10), 2);
  EXPECT_DOUBLE_EQ(shapes.distance(Polygon{{3, 0}, {4, 0}, {4, 1}}, {{3.5, 0.5}, 0.8}, 10), 2);
  std::vector<int> found;
  shapes.within({0.5, 0.5}, 0, found);
  EXPECT_EQ(found.size(), 50000U);
}

}  // namespace
}  // namespace mvsim::polygon_distance_test
