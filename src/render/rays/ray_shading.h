// Surfaces and sky of a RayScene, shaded by the formulas of render/shading.h.
#pragma once

#include <array>

#include "render/rays/ray_scene.h"
#include "render/shading.h"

namespace mvsim {

// A point of a triangle.
struct SurfacePoint {
  Rgb base{};  // squared colour
  std::array<float, 2> uv{};
  float alpha = 1;
  Vec3 normal;  // in the body's coordinates, not of length 1
};

SurfacePoint surface_at(const RayBody& body, const RayTriangle& triangle, Vec3 point);

// Returns the colour of the sky along `direction` (world, any length). `pixel_angle`: from one pixel to the
// next, rad.
Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle);

}  // namespace mvsim
