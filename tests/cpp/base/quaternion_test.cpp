#include "base/geometry3.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mvsim::quaternion_test {
namespace {

// q v q*.
Vec3 rotate(const Quaternion& q, Vec3 v) {
  const Quaternion out = q * Quaternion{0, v.x, v.y, v.z} * Quaternion{q.w, -q.x, -q.y, -q.z};
  return {out.x, out.y, out.z};
}

TEST(Quaternion, TurnsAsTheFrameOfAPoseDoes) {
  const Pose3 pose{.yaw = 0.7, .pitch = -0.4, .roll = 2.5};
  const Frame3 frame(pose);
  for (const Vec3 v : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0.3, -2, 5}}) {
    const Vec3 a = rotate(rotation_of(pose), v), b = frame.rotate(v);
    EXPECT_NEAR(norm(a - b), 0, 1e-12);
  }
}

TEST(Quaternion, ExpIsOfUnitLengthAlsoNearNothing) {
  for (const double angle : {0.0, 1e-300, 1e-9, 1.0, 3.0, 7.0}) {
    const Quaternion q = exp_rotation({angle, 0, 0});
    EXPECT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
    EXPECT_NEAR(q.w, std::cos(angle / 2), 1e-14);
  }
}

TEST(Quaternion, CanonicalIsTheSameRotation) {
  const Quaternion q = canonical({-0.5, 0.5, -0.5, 0.5});
  EXPECT_EQ(q.w, 0.5);
  EXPECT_EQ(q.x, -0.5);
  EXPECT_EQ(rotate(q, {1, 2, 3}), rotate({-0.5, 0.5, -0.5, 0.5}, {1, 2, 3}));
}

}  // namespace
}  // namespace mvsim::quaternion_test
