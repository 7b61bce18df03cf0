// A plate that was turned and lies on its points exactly must be found again; a plate that does not fit must
// lie where no small turn brings it nearer.
#include "terrain/ground.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace mvsim::plate_fit_test {
namespace {

// R = Rz(yaw) Ry(pitch) Rx(roll) applied to a point of the plane, and lifted.
Vec3 turned(const PlatePose& pose, double yaw, Vec2 p) {
  const SinCos pitch = sin_cos(pose.pitch), roll = sin_cos(pose.roll);
  const Vec2 level = Rotation2(yaw).rotate({p.x * pitch.cos + p.y * roll.sin * pitch.sin, p.y * roll.cos});
  return {level.x, level.y, pose.z + p.y * roll.sin * pitch.cos - p.x * pitch.sin};
}

constexpr Vec2 kWheels[] = {{0.4, 0.3}, {0.4, -0.3}, {-0.2, 0.3}, {-0.2, -0.3}};

TEST(PlateFit, FindsTheTurnThatWasMade) {
  RandomStream random(1, 0, StreamPurpose::kActionNoise);
  for (int i = 0; i < 1000; ++i) {
    const PlatePose made{random.uniform(-3, 3), random.uniform(-1.2, 1.2), random.uniform(-1.2, 1.2)};
    const double yaw = random.uniform(-0.3, 0.3);
    PlateFit fit;
    for (const Vec2 p : kWheels) fit.add(p, turned(made, yaw, p));
    const std::optional<PlatePose> found = fit.solve();
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->z, made.z, 1e-9);
    EXPECT_NEAR(found->pitch, made.pitch, 1e-9);
    EXPECT_NEAR(found->roll, made.roll, 1e-9);
  }
}

double squares(const PlatePose& pose, double yaw, const Vec3 (&ground)[4]) {
  // the best shift takes centroid to centroid
  Vec3 shift{};
  for (int i = 0; i < 4; ++i) {
    const Vec3 p = turned(pose, yaw, kWheels[i]);
    shift = {shift.x + (ground[i].x - p.x) / 4, shift.y + (ground[i].y - p.y) / 4,
             shift.z + (ground[i].z - p.z) / 4};
  }
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const Vec3 p = turned(pose, yaw, kWheels[i]);
    const Vec3 off{ground[i].x - p.x - shift.x, ground[i].y - p.y - shift.y, ground[i].z - p.z - shift.z};
    sum += off.x * off.x + off.y * off.y + off.z * off.z;
  }
  return sum;
}

TEST(PlateFit, IsTheLeastSquaresOfPointsThatDoNotFit) {
  RandomStream random(2, 0, StreamPurpose::kActionNoise);
  for (int i = 0; i < 200; ++i) {
    Vec3 ground[4];
    PlateFit fit;
    for (int k = 0; k < 4; ++k) {
      ground[k] = {kWheels[k].x, kWheels[k].y, random.uniform(-0.2, 0.2)};
      fit.add(kWheels[k], ground[k]);
    }
    const PlatePose found = *fit.solve();
    double best = 1e9;  // over the yaw, which the fit does not tell
    for (double yaw = -0.2; yaw <= 0.2; yaw += 1e-3) best = std::min(best, squares(found, yaw, ground));
    for (const double d : {-0.01, 0.01})
      for (double yaw = -0.2; yaw <= 0.2; yaw += 5e-3) {
        EXPECT_GE(squares({0, found.pitch + d, found.roll}, yaw, ground), best - 1e-7);
        EXPECT_GE(squares({0, found.pitch, found.roll + d}, yaw, ground), best - 1e-7);
      }
  }
}

TEST(PlateFit, NeedsThreePointsThatAreNotOnALine) {
  PlateFit fit;
  EXPECT_TRUE(fit.empty());
  fit.add({0, 0.2}, {0, 0.2, 0});
  fit.add({0, -0.2}, {0, -0.2, 0.1});
  EXPECT_FALSE(fit.solve());
  fit.add({0, 0.5}, {0, 0.5, 0.3});
  EXPECT_FALSE(fit.solve());
  fit.add({0.1, 0}, {0.1, 0, 0});
  EXPECT_TRUE(fit.solve());
}

}  // namespace
}  // namespace mvsim::plate_fit_test
