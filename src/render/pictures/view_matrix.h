// 4x4 matrices of a camera, column-major as OpenGL takes them. They are double until the last step, so that a
// scene kilometres from the origin does not jitter.
#pragma once

#include <array>

#include "base/geometry3.h"
#include "render/pictures/camera.h"

namespace mvsim {

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
