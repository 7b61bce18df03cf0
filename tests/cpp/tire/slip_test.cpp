#include "tire/rolling.h"

#include <gtest/gtest.h>

#include "tire/vti_traction.h"

namespace mvsim::slip_test {
namespace {

TEST(Slip, FollowsTheStandardConvention) {
  EXPECT_DOUBLE_EQ(slip_ratio(10, 8), 0.2);     // driving: 1 - v/(r w)
  EXPECT_DOUBLE_EQ(slip_ratio(8, 10), -0.2);    // braking: r w/v - 1
  EXPECT_DOUBLE_EQ(slip_ratio(-10, -8), -0.2);  // driving backward
  EXPECT_EQ(slip_ratio(0, 5), -1);
  EXPECT_EQ(slip_ratio(0, -5), 1);
  EXPECT_EQ(slip_ratio(3, -3), 1);
}

TEST(Slip, GrowsFromZeroAtLowSpeed) {
  EXPECT_EQ(slip_ratio(0, 0), 0);
  EXPECT_EQ(slip_ratio(0, 0, 0), 0);
  EXPECT_DOUBLE_EQ(slip_ratio(0.01, 0, 0.1), 0.1);
  EXPECT_EQ(slip_ratio(0.01, 0, 0), 1);
}

TEST(Slip, AngleKeepsItsSideInReverse) {
  EXPECT_DOUBLE_EQ(slip_angle(5, 5), kPi / 4);
  EXPECT_DOUBLE_EQ(slip_angle(-5, 5), kPi / 4);
  EXPECT_DOUBLE_EQ(slip_angle(5, -5), -kPi / 4);
  EXPECT_DOUBLE_EQ(slip_angle(0, 3, 0), kPi / 2);
  EXPECT_EQ(slip_angle(0, 0, 0), 0);
  EXPECT_EQ(slip_angle(0, 0), 0);
}

TEST(Surfaces, AreFoundByNameAndNeverGuessed) {
  for (int i = 0; i < kSurfaceCount; ++i) EXPECT_EQ(surface_index(kSurfaceNames[i]), i);
  EXPECT_EQ(surface_index("clay"), static_cast<int>(Surface::kClay));
  EXPECT_EQ(surface_index("paved"), -1);
  EXPECT_EQ(surface_index("Dry"), -1);
  EXPECT_TRUE(is_soil(Surface::kSand));
  EXPECT_FALSE(is_soil(Surface::kIce));
}

}  // namespace
}  // namespace mvsim::slip_test
