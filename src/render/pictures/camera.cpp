#include "render/pictures/camera.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr double kAboveFov = 35 * kDegree;
constexpr double kBehindFov = 55 * kDegree;
constexpr double kBehindCut = 0.6;  // share of the distance to the robot
constexpr double kMargin = 0.04;    // share of the picture, on each side
constexpr double kWorldTilt = 25 * kDegree;

Matrix4 from_rows(const ViewAxes& f, Vec3 origin, Vec3 scale, double depth_offset, bool divides) {
  const Vec3 shift = origin - f.origin;
  const std::array<Vec3, 3> rows{scale.x * f.right, scale.y * f.up, scale.z * f.back};
  Matrix4 m{};
  for (size_t r = 0; r < 3; ++r) {
    const Vec3& row = rows[r];
    m[r] = static_cast<float>(row.x);
    m[4 + r] = static_cast<float>(row.y);
    m[8 + r] = static_cast<float>(row.z);
    m[12 + r] = static_cast<float>(dot(row, shift));
  }
  m[14] += static_cast<float>(depth_offset);
  if (divides) {
    m[3] = static_cast<float>(-f.back.x);
    m[7] = static_cast<float>(-f.back.y);
    m[11] = static_cast<float>(-f.back.z);
    m[15] = static_cast<float>(-dot(f.back, shift));
  } else {
    m[15] = 1;
  }
  return m;
}

}  // namespace

ViewAxes view_frame(const Camera& camera) {
  ViewAxes f;
  f.origin = camera.eye;
  f.back = normalized(camera.eye - camera.target);
  Vec3 right = cross(camera.up, f.back);
  if (!(norm(right) > 1e-9)) right = cross({0, 1, 0}, f.back);  // straight along `up`
  if (!(norm(right) > 1e-9)) right = {1, 0, 0};
  f.right = normalized(right);
  f.up = cross(f.back, f.right);
  return f;
}

double half_height_at_one_metre(const Camera& camera) {
  const SinCos half = sin_cos(camera.vertical_fov / 2);
  return half.sin / half.cos;
}

Matrix4 perspective(const ViewAxes& frame, double half_height, double aspect, double near, Vec3 origin) {
  return from_rows(frame, origin, {1 / (half_height * aspect), 1 / half_height, 0}, near, true);
}

Matrix4 parallel(const ViewAxes& frame, double radius, Vec3 origin) {
  return from_rows(frame, origin, {1 / radius, 1 / radius, -0.5 / radius}, 0.5, false);
}

Camera view_from_above(const Rect& extent, double aspect, double tilt, double height) {
  Camera camera;
  camera.vertical_fov = kAboveFov;
  const SinCos lean = sin_cos(std::clamp(tilt, 0.0, 80 * kDegree));
  const Vec3 back{0, -lean.sin, lean.cos}, up{0, lean.cos, lean.sin};
  const Vec3 center{(extent.x_min + extent.x_max) / 2, (extent.y_min + extent.y_max) / 2, 0};
  const double slope_y = half_height_at_one_metre(camera) * (1 - 2 * kMargin), slope_x = slope_y * aspect;
  // Finds the smallest distance at which each corner is inside. A shift along `up` centres the corners
  // vertically.
  double beside = 0.1, above = -1e300, below = -1e300;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p = Vec3{corner & 1 ? extent.x_max : extent.x_min, corner & 2 ? extent.y_max : extent.y_min,
                        corner & 4 ? height : 0} -
                   center;
    const double nearer = dot(p, back);
    beside = std::max(beside, std::fabs(p.x) / slope_x + nearer);
    above = std::max(above, dot(p, up) / slope_y + nearer);
    below = std::max(below, -dot(p, up) / slope_y + nearer);
  }
  camera.target = center + slope_y * (above - below) / 2 * up;
  camera.eye = camera.target + std::max(beside, (above + below) / 2) * back;
  return camera;
}

Camera view_from_behind(const Pose3& robot, double distance, double height) {
  const Rotation2 heading(robot.yaw);
  const Vec3 ahead{heading.c, heading.s, 0}, base{robot.x, robot.y, robot.z};
  Camera camera;
  camera.eye = base - distance * ahead + Vec3{0, 0, height};
  camera.target = base + 0.5 * distance * ahead;
  camera.up = {0, 0, 1};
  camera.vertical_fov = kBehindFov;
  camera.nearest = kBehindCut * distance;
  return camera;
}

Camera view_between(Vec3 eye, Vec3 target) {
  return {.eye = eye, .target = target, .up = {0, 0, 1}, .vertical_fov = kBehindFov};
}

Camera view_of_world(const Scene& scene, double aspect) {
  return view_from_above(scene.bounds, aspect, kWorldTilt, scene.height);
}

Camera view_of_robot(const Pose3& robot, double radius) {
  const double distance = 0.6 + 5 * radius;
  return view_from_behind(robot, distance, 0.6 * distance);
}

std::optional<Vec2> project(const Camera& camera, const Vec3& point, int width, int height) {
  const ViewAxes f = view_frame(camera);
  const Vec3 p = point - f.origin;
  const double depth = -dot(p, f.back);
  if (!(depth > 0)) return std::nullopt;
  const double pixels_per_slope = height / (2 * half_height_at_one_metre(camera));
  return Vec2{width / 2.0 + dot(p, f.right) / depth * pixels_per_slope,
              height / 2.0 - dot(p, f.up) / depth * pixels_per_slope};
}

}  // namespace mvsim
