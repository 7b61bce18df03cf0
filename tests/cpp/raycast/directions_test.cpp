#include "raycast/beams.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/simd.h"
#include "raycast/scenes.h"

namespace mvsim::directions_test {
namespace {

TEST(BeamTable, DirectionsAreTheBeamsTurned) {
  const BeamTable table(181, kPi);
  EXPECT_EQ(table.count(), 181);
  EXPECT_DOUBLE_EQ(table.angle(0), -kPi / 2);
  EXPECT_DOUBLE_EQ(table.angle(180), kPi / 2);
  std::vector<float> dx(181), dy(181);
  for (const double yaw : {0.0, 0.7, -3.0, 100.0}) {
    const Fan fan = table.fan({4, 5, yaw}, dx.data(), dy.data());
    EXPECT_EQ(fan.origin, (Vec2{4, 5}));
    for (int i = 0; i < 181; ++i) {
      const double angle = fan.first_angle + i * fan.angle_step;
      EXPECT_NEAR(dx[i], std::cos(angle), 3.5e-8);  // half a float's last place and a little
      EXPECT_NEAR(dy[i], std::sin(angle), 3.5e-8);
    }
  }
}

TEST(BeamTable, EveryInstructionSetGivesTheSameBits) {
  for (const int count : {1, 7, 181}) {
    const BeamTable table(count, 4.5);
    std::vector<float> dx(count), dy(count), other_dx(count), other_dy(count);
    table.directions(0.37, dx.data(), dy.data());
    for (const std::string& target : simd_targets()) {
      const ScopedSimdTarget use(target);
      table.directions(0.37, other_dx.data(), other_dy.data());
      EXPECT_TRUE(test::same_bits(dx, other_dx)) << target;
      EXPECT_TRUE(test::same_bits(dy, other_dy)) << target;
    }
  }
}

TEST(BeamTable, OneBeamLooksAlongX) {
  const BeamTable table(1, 2.0);
  float dx = 0, dy = 0;
  table.directions(0, &dx, &dy);
  EXPECT_EQ(dx, 1.0f);
  EXPECT_EQ(dy, 0.0f);
}

TEST(BeamTable, WholeTurnEndsWhereItBegins) {
  const BeamTable table(361, 2 * kPi);
  std::vector<float> dx(361), dy(361);
  table.directions(0.3, dx.data(), dy.data());
  EXPECT_NEAR(dx[0], dx[360], 1e-7);
  EXPECT_NEAR(dy[0], dy[360], 1e-7);
}

}  // namespace
}  // namespace mvsim::directions_test
