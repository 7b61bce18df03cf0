#include "render/pictures/camera.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mvsim::camera_test {
namespace {

constexpr int kWidth = 640, kHeight = 480;

bool in_picture(std::optional<Vec2> pixel) {
  return pixel && pixel->x >= 0 && pixel->x <= kWidth && pixel->y >= 0 && pixel->y <= kHeight;
}

TEST(Camera, AboveCentresTheExtentAndKeepsItsAxes) {
  const Camera camera = view_from_above({1, 5, -2, 2}, 640.0 / 480);
  const Vec2 center = *project(camera, {3, 0, 0}, kWidth, kHeight);
  EXPECT_NEAR(center.x, kWidth / 2.0, 1e-9);
  EXPECT_NEAR(center.y, kHeight / 2.0, 1e-9);
  const Vec2 east = *project(camera, {4, 0, 0}, kWidth, kHeight),
             north = *project(camera, {3, 1, 0}, kWidth, kHeight);
  EXPECT_GT(east.x, center.x);
  EXPECT_NEAR(east.y, center.y, 1e-9);
  EXPECT_LT(north.y, center.y);
  EXPECT_NEAR(north.x, center.x, 1e-9);
  EXPECT_NEAR(east.x - center.x, center.y - north.y, 1e-9) << "square pixels";
}

TEST(Camera, AboveSeesEveryCornerWithAMarginAndNoMore) {
  for (const Rect& extent : {Rect{-3, 3, -3, 3}, Rect{-20, 0, 4, 7}, Rect{0, 1, 0, 9}})
    for (const double tilt : {0.0, 0.5, 1.2}) {
      const double height = 0.6;
      const Camera camera = view_from_above(extent, 640.0 / 480, tilt, height);
      double nearest = 1e9;
      for (const double x : {extent.x_min, extent.x_max})
        for (const double y : {extent.y_min, extent.y_max})
          for (const double z : {0.0, height}) {
            const auto p = project(camera, {x, y, z}, kWidth, kHeight);
            ASSERT_TRUE(in_picture(p));
            nearest =
                std::min({nearest, p->x / kWidth, 1 - p->x / kWidth, p->y / kHeight, 1 - p->y / kHeight});
          }
      EXPECT_GT(nearest, 0.03);
      EXPECT_LT(nearest, 0.05) << "some corner is near the edge of the picture";
    }
}

TEST(Camera, BehindLooksTheWayTheRobotFaces) {
  for (const double yaw : {0.0, 1.0, -2.5}) {
    const Pose3 robot{2, -1, 0, yaw, 0, 0};
    const Camera camera = view_from_behind(robot, 1.5, 1);
    const Rotation2 heading(yaw);
    const Vec2 ahead = heading.rotate({3, 0}), left = heading.rotate({1, 0.5});
    const Vec2 self = *project(camera, {2, -1, 0}, kWidth, kHeight);
    EXPECT_NEAR(self.x, kWidth / 2.0, 1e-6);
    EXPECT_TRUE(in_picture(self));
    EXPECT_LT(project(camera, {2 + ahead.x, -1 + ahead.y, 0}, kWidth, kHeight)->y, self.y);
    EXPECT_LT(project(camera, {2 + left.x, -1 + left.y, 0}, kWidth, kHeight)->x, self.x);
  }
}

TEST(Camera, BetweenTwoPointsTheTargetIsInTheMiddleAndZPointsUp) {
  for (const Vec3 eye : {Vec3{5, -3, 2}, Vec3{1, 2, 9}, Vec3{1, 2, -9}}) {
    const Vec3 target{1, 2, 0.5};
    const Camera camera = view_between(eye, target);
    const Vec2 middle = *project(camera, target, kWidth, kHeight);
    EXPECT_NEAR(middle.x, kWidth / 2.0, 1e-6);
    EXPECT_NEAR(middle.y, kHeight / 2.0, 1e-6);
    const bool is_vertical = eye.x == target.x && eye.y == target.y;
    const Vec3 above = target + (is_vertical ? Vec3{0, 0.5, 0} : Vec3{0, 0, 0.5});
    const Vec2 seen = *project(camera, above, kWidth, kHeight);
    EXPECT_NEAR(seen.x, kWidth / 2.0, 1e-6);
    EXPECT_LT(seen.y, middle.y - 5);
  }
}

TEST(Camera, NothingBehindTheCameraIsProjected) {
  const Camera camera = view_from_behind({}, 1, 1);
  EXPECT_FALSE(project(camera, {-5, 0, 1}, kWidth, kHeight));
}

}  // namespace
}  // namespace mvsim::camera_test
