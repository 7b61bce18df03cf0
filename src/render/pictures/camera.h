// Cameras of pictures, and their matrices.
#pragma once

#include <array>
#include <optional>

#include "base/geometry3.h"
#include "scene/scene.h"

namespace mvsim {

// Cameras of pictures: pinhole, metres and radians, world frame. Pure functions, any thread.

struct Camera {
  Vec3 eye{0, 0, 10};
  Vec3 target;
  Vec3 up{0, 1, 0};  // any direction not parallel to the line of sight
  double vertical_fov = 40 * kDegree;
  double nearest = 0.02;  // m along the line of sight; nearer points are cut away
};

// Sees all of `extent` on the ground in a picture of width / height = `aspect`, with a margin of a few
// percent. tilt 0 looks straight down with +y upwards in the picture. A larger tilt (below 80 degrees) leans
// the camera back towards -y and shows the sides of bodies. `height` is that of the tallest body that must be
// completely visible.
Camera view_from_above(const Rect& extent, double aspect, double tilt = 0, double height = 0);

// Follows a robot: `distance` behind it, `height` above it, with a target a little ahead of it. Walls close
// behind the robot are cut away.
Camera view_from_behind(const Pose3& robot, double distance, double height);

// Looks from one point to another. +z is upwards in the picture, or +y if it looks straight down or up.
Camera view_between(Vec3 eye, Vec3 target);

// Sees all of a world, with a small tilt.
Camera view_of_world(const Scene& scene, double aspect);
// Sees a robot from behind. `radius`: all parts of the robot are within it.
Camera view_of_robot(const Pose3& robot, double radius);

// Returns the pixel of a point: x to the right, y down, from the upper left corner of the picture; nothing if
// the point is behind the camera.
std::optional<Vec2> project(const Camera& camera, const Vec3& point, int width, int height);

// 4x4 matrices of a camera, column-major as OpenGL takes them. They are double until the last step, so that a
// scene kilometres from the origin does not jitter.

// A right-handed frame looking along -back.
struct ViewAxes {
  Vec3 origin, right, up, back;
};

ViewAxes view_frame(const Camera& camera);
double half_height_at_one_metre(const Camera& camera);  // tangent of half the vertical field of view

using Matrix4 = std::array<float, 16>;

// Maps points relative to `origin` to clip space: depth 1 at `near`, 0 at infinity, which has the best
// precision.
Matrix4 perspective(const ViewAxes& frame, double half_height, double aspect, double near, Vec3 origin);
// Parallel projection of the box |x|, |y|, |z| <= radius about the frame's origin: depth 0 in front, 1
// behind.
Matrix4 parallel(const ViewAxes& frame, double radius, Vec3 origin);

}  // namespace mvsim
