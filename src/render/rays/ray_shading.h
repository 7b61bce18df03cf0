// How surfaces look: the light of sun and sky, textures, and the sky itself. The formulas of the shaders
// (render/pictures/shaders.h), in plain arithmetic: the same colours on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "render/rays/ray_scene.h"

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

// What reaches a surface with this normal (world, length 1, towards the eye); `lit`: the sun does.
Rgb light_on(Vec3 normal, const Sun& sun, bool lit);

// Of a surface with this squared colour.
inline Rgb lit_color(const Rgb& base, const Rgb& light) {
  return {std::sqrt(base[0] * light[0]), std::sqrt(base[1] * light[1]), std::sqrt(base[2] * light[2])};
}

inline Rgb lit_color(const SurfacePoint& surface, Vec3 normal, const Sun& sun, bool lit) {
  return lit_color(surface.base, light_on(normal, sun, lit));
}

// As it is written into an image.
inline uint8_t channel_byte(float channel) {
  return static_cast<uint8_t>(std::lround(std::clamp(channel, 0.0F, 1.0F) * 255));
}

// The level of a texture of which so many texels pass by from one pixel to the next.
float texture_level(double passing);

// Looking along `direction` (world, of any length); `pixel_angle`: from one pixel to the next, rad.
Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle);
Rgb plain_sky_color(const Sky& sky, Vec3 direction);  // of one without a box of pictures

}  // namespace mvsim
