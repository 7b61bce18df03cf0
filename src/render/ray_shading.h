// How surfaces look: the light of sun and sky, textures, and the sky itself. The formulas of the shaders
// (render/shaders.h), in plain arithmetic: the same colours on every machine.
#pragma once

#include <array>

#include "render/ray_scene.h"

namespace mvsim {

using Rgb = std::array<float, 3>;

// A point of a triangle.
struct SurfacePoint {
  Rgb base{};  // squared colour
  std::array<float, 2> uv{};
  float alpha = 1;
  Vec3 normal;  // in the body's coordinates, not of length 1
};

SurfacePoint surface_at(const RayBody& body, const RayTriangle& triangle, Vec3 point);

// Of a surface with this normal (world, length 1, towards the eye); `lit`: the sun reaches it.
Rgb lit_color(const SurfacePoint& surface, Vec3 normal, const Sun& sun, bool lit);

// Looking along `direction` (world, of any length); `pixel_angle`: from one pixel to the next, rad.
Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle);

}  // namespace mvsim
