// The index gives the same answers as a search through all pieces.
#include "terrain/ground_index.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace mvsim::ground_index_test {
namespace {

TEST(GroundIndex, SaysWhatALookAtEverythingSays) {
  RandomStream random(1, 0, StreamPurpose::kVariant);
  const LoadGuard guard;
  GroundIndex index(guard);
  Terrain terrain;
  std::vector<BlockTop> tops;
  std::vector<PlacedTop> placed;
  terrain.planes.reserve(300);
  terrain.maps.reserve(20);
  tops.reserve(600);
  const auto size = [&] { return std::exp(random.uniform(-4, 3)); };
  for (int i = 0; i < 600; ++i) {
    if (i % 2 == 0) {
      const double x = size(), y = size();
      terrain.planes.push_back({{-x, x / 2, -y, y / 3},
                                {random.uniform(-20, 20), random.uniform(-20, 20), random.uniform(0, 2),
                                 random.uniform(-4, 4), 0, 0},
                                random.uniform(-1, 1)});
      index.add(terrain.planes.back());
    }
    if (i % 30 == 0) {
      std::vector<float> heights(12);
      for (float& h : heights) h = static_cast<float>(random.uniform(-1, 3));
      terrain.maps.emplace_back(3, 4, size(), Vec2{random.uniform(-20, 20), random.uniform(-20, 20)},
                                heights);
      index.add(terrain.maps.back());
    }
    const double x = size(), y = size();
    tops.push_back({{{-x, -y}, {x, -y}, {x, y}, {-x, y}},
                    norm(Vec2{x, y}),
                    static_cast<TopShape>(i % 3),
                    random.uniform(0, 2),
                    x,
                    2 * y});
    placed.push_back({&tops.back(),
                      {random.uniform(-20, 20), random.uniform(-20, 20), random.uniform(-4, 4)},
                      random.uniform(-1, 1)});
    index.add(placed.back());
  }
  for (int i = 0; i < 20000; ++i) {
    const Vec2 at{random.uniform(-30, 30), random.uniform(-30, 30)};
    const double z = random.uniform(-2, 5);
    EXPECT_EQ(index.highest_under(at, z), highest_under(terrain, placed, at, z));
    EXPECT_EQ(index.highest_map(at), highest_map(terrain, at));
  }
}

// 50,000 pieces in one place are looked at a few at a time.
TEST(GroundIndex, APileOfPlanesIsNoHindrance) {
  const LoadGuard guard;
  GroundIndex index(guard);
  const std::vector<GroundPlane> planes(50000, {{-1, 1, -1, 1}, {}, 0.5});
  for (const GroundPlane& plane : planes) index.add(plane);
  for (int i = 0; i < 50000; ++i) {
    EXPECT_EQ(index.highest_under({0.5, 0.5}, 1), 0.5);
    EXPECT_EQ(index.highest_under({0.5, 0.5}, 0.25), 0);
  }
}

TEST(GroundIndex, AHostilePileIsAnError) {
  const LoadGuard guard;
  GroundIndex index(guard);
  // none of them under the point, all of them near it
  const std::vector<GroundPlane> planes(50000, {{0, 1, 0, 1}, {}, 0});
  for (const GroundPlane& plane : planes) index.add(plane);
  const auto look = [&] {
    for (int i = 0; i < 10000; ++i) index.highest_under({-0.1, -0.1}, 1);
  };
  EXPECT_THROW(look(), Error);
}

}  // namespace
}  // namespace mvsim::ground_index_test
