// The sides of the box fit together: a picture goes on where the next begins.
#include "scene/scene.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mvsim::sky_box_test {
namespace {

enum Side : size_t { kFront, kBack, kDown, kUp, kLeft, kRight };

TEST(SkyBox, EverySideIsSeenInItsMiddle) {
  for (size_t side = 0; side < kSkySides; ++side) {
    const SkyPlace place = sky_place(3 * kSkyBox[side].ahead);
    EXPECT_EQ(place.side, side);
    EXPECT_EQ(place.u, 0.5);
    EXPECT_EQ(place.v, 0.5);
  }
  EXPECT_EQ(sky_place({0, 2, 0.1}).side, kFront);
  EXPECT_EQ(sky_place({2, 0, 0.1}).side, kLeft);
  EXPECT_EQ(sky_place({0.1, 0.2, 3}).side, kUp);
}

// Seen from within, nothing is mirrored.
TEST(SkyBox, RightDownAndAheadAreARightHandedFrame) {
  for (const SkySide& side : kSkyBox) EXPECT_EQ(cross(side.right, side.down), side.ahead);
}

TEST(SkyBox, EdgesThatTouch) {
  const auto near = [](double a, double b) { return std::fabs(a - b) < 1e-3; };
  constexpr double kBeside = 1e-5;
  // above the front side comes the lower edge of the upper one, and so on
  const SkyPlace above = sky_place({0.3, 1, 1 + kBeside}), front = sky_place({0.3, 1, 1 - kBeside});
  EXPECT_EQ(above.side, kUp);
  EXPECT_TRUE(near(above.v, 1) && near(front.v, 0) && near(above.u, front.u));
  const SkyPlace below = sky_place({0.3, 1, -1 - kBeside});
  EXPECT_EQ(below.side, kDown);
  EXPECT_TRUE(near(below.v, 0) && near(below.u, front.u));
  // the side that MVSim calls left lies to the right of the front
  const SkyPlace left = sky_place({1 + kBeside, 1, 0.2}), beside = sky_place({1 - kBeside, 1, 0.2});
  EXPECT_EQ(left.side, kLeft);
  EXPECT_EQ(beside.side, kFront);
  EXPECT_TRUE(near(left.u, 0) && near(beside.u, 1) && near(left.v, beside.v));
}

TEST(SkyBox, NoDirectionIsSomePlace) {
  EXPECT_LT(sky_place({}).side, kSkySides);
  EXPECT_LT(sky_place({std::nan(""), 0, 0}).side, kSkySides);
}

}  // namespace
}  // namespace mvsim::sky_box_test
