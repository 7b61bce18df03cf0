// The nearest of many points, against a look at all of them, and how many looks that takes.
#include "worldfile/nearest_sample.h"

#include <gtest/gtest.h>

#include "base/math.h"
#include "base/random.h"

namespace mvsim::nearest_sample_test {
namespace {

using Points = std::vector<double>;  // x, y

uint32_t first_nearest(const Points& points, double x, double y) {
  uint32_t best = 0;
  const auto squared = [&](size_t i) {
    const double dx = points[2 * i] - x, dy = points[2 * i + 1] - y;
    return dx * dx + dy * dy;
  };
  for (size_t i = 1; i < points.size() / 2; ++i)
    if (squared(i) < squared(best)) best = static_cast<uint32_t>(i);
  return best;
}

// Points of [0, 100] x [0, 100], compared at the middles of `side` x `side` cells; looks for each cell.
double looks_for_each(const Points& points, int side, bool compare) {
  NearestSample samples(points, 2, LoadGuard());
  const double step = 100.0 / side;
  uint32_t near = 0;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      const double x = (row + 0.5) * step, y = (column + 0.5) * step;
      near = samples.find(x, y, near);
      if (compare) {
        EXPECT_EQ(near, first_nearest(points, x, y)) << x << " " << y;
      }
    }
  return static_cast<double>(samples.looks()) / (side * side);
}

Points scattered(size_t count, double size) {
  RandomStream random(7, 0, StreamPurpose::kSpawn);
  Points out;
  for (size_t i = 0; i < 2 * count; ++i) out.push_back(size * random.uniform());
  return out;
}

TEST(NearestSample, IsTheFirstOfTheNearest) {
  for (const size_t count : {1, 2, 8, 9, 17, 300}) looks_for_each(scattered(count, 100), 20, true);
  Points lattice;  // four are equally near, and each stands there three times
  for (int k = 0; k < 3; ++k)
    for (int x = 0; x <= 10; ++x)
      for (int y = 0; y <= 10; ++y) lattice.insert(lattice.end(), {10.0 * x, 10.0 * y});
  looks_for_each(lattice, 10, true);
  looks_for_each(lattice, 21, true);
  looks_for_each(Points(600, 3.0), 10, true);
  Points last_first;  // the same places in another order
  for (size_t i = lattice.size(); i > 0; i -= 2)
    last_first.insert(last_first.end(), {lattice[i - 2], lattice[i - 1]});
  looks_for_each(last_first, 10, true);
}

TEST(NearestSample, PointsOnACircleAreComparedExactly) {
  Points circle;
  for (int i = 0; i < 400; ++i) {
    const SinCos angle = sin_cos(2 * kPi * i / 400);
    circle.insert(circle.end(), {50 + 50 * angle.cos, 50 + 50 * angle.sin});
  }
  looks_for_each(circle, 31, true);
}

// However many points there are, and wherever they crowd, few of them are compared with.
TEST(NearestSample, FewLooksWherePointsCrowd) {
  constexpr size_t kMany = 20000;
  EXPECT_LT(looks_for_each(scattered(kMany, 100), 100, false), 60);
  Points one_place(2 * kMany, 0.0);
  one_place.insert(one_place.end(), {100, 100});
  EXPECT_LT(looks_for_each(one_place, 100, false), 60);
  Points near_one_place = scattered(kMany, 1e-9);
  near_one_place.insert(near_one_place.end(), {100, 100});
  EXPECT_LT(looks_for_each(near_one_place, 100, false), 60);
  Points on_a_side;
  for (size_t i = 0; i < kMany; ++i)
    on_a_side.insert(on_a_side.end(), {100.0 * static_cast<double>(i) / kMany, 0});
  on_a_side.insert(on_a_side.end(), {100, 100});
  EXPECT_LT(looks_for_each(on_a_side, 100, false), 60);
  Points far_one = scattered(kMany, 1e-3);
  far_one.insert(far_one.end(), {1e9, 1e9});
  EXPECT_LT(looks_for_each(far_one, 100, false), 60);
}

}  // namespace
}  // namespace mvsim::nearest_sample_test
