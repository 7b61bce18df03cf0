// The formulas of light, sky and textures, in C++ for rays and in GLSL for OpenGL. Both use the constants
// below.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "scene/scene.h"

namespace mvsim {

using Rgb = std::array<float, 3>;

// Light of the sky on a surface, by the direction of its normal.
struct SkyLight {
  float down = 0.30F;                // for a normal that points down
  Rgb up{0.46F, 0.48F, 0.52F};       // for one that points up; linear in z between both
  Rgb averted{0.26F, 0.26F, 0.28F};  // added if it points away from the sun, in the plane
  float aside = 0.10F;               // added by |y|, so that the sides of a box differ
};
inline constexpr SkyLight kSkyLight;

// A plain sky has the colour of the horizon at elevation 0 and its end colours from these heights on (sine of
// the elevation).
inline constexpr float kSkyEndAbove = 0.7F, kSkyEndBelow = 0.4F;

// Returns the light on a surface with this normal (world, length 1, towards the eye). `lit`: the sun reaches
// it.
Rgb light_on(Vec3 normal, const Sun& sun, bool lit);

// Returns the colour of a surface from its squared colour. Light is added in squares of colours, which is
// nearly linear light.
inline Rgb lit_color(const Rgb& base, const Rgb& light) {
  return {std::sqrt(base[0] * light[0]), std::sqrt(base[1] * light[1]), std::sqrt(base[2] * light[2])};
}

// Returns the byte that an image stores for a channel.
inline uint8_t channel_byte(float channel) {
  return static_cast<uint8_t>(std::lround(std::clamp(channel, 0.0F, 1.0F) * 255));
}

// Returns the level of a texture with this many texels between two pixels.
float texture_level(double texels);

// Returns the colour of a sky without pictures in this direction (world, any length).
Rgb plain_sky_color(const Sky& sky, Vec3 direction);

// Returns the margin of a picture on the sky's box. Texture coordinates are clamped by it, since the picture
// does not repeat. `size`: texels of a side.
float sky_box_margin(float level, float size);

// Returns the same formulas as functions of GLSL: sky_light(normal, to_sun), plain_sky_color(height, horizon,
// above, below), texture_level(texels), sky_box_margin(level, size).
std::string shading_glsl();

}  // namespace mvsim
