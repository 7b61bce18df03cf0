#include "render/shading.h"

#include <cstdio>
#include <numbers>

#include "base/math.h"

namespace mvsim {
namespace {

float smoothstep(float edge, float x) {
  const float t = std::clamp(x / edge, 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

std::string number_text(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%#.9g", static_cast<double>(value));
  return text;
}

std::string constant(const char* name, float value) {
  return std::string("const float ") + name + " = " + number_text(value) + ";\n";
}

std::string constant(const char* name, const Rgb& value) {
  return std::string("const vec3 ") + name + " = vec3(" + number_text(value[0]) + ", " +
         number_text(value[1]) + ", " + number_text(value[2]) + ");\n";
}

constexpr const char* kFunctions = R"glsl(
vec3 sky_light(vec3 normal, vec3 to_sun) {
  vec3 light = mix(vec3(kSkyLightDown), kSkyLightUp, 0.5 + 0.5 * normal.z);
  return light + (kSkyLightAverted * max(-dot(normal.xy, to_sun.xy), 0.0) + vec3(kSkyLightAside * abs(normal.y)));
}
vec3 plain_sky_color(float height, vec3 horizon, vec3 above, vec3 below) {
  return height > 0.0 ? mix(horizon, above, smoothstep(0.0, kSkyEndAbove, height))
                      : mix(horizon, below, smoothstep(0.0, kSkyEndBelow, -height));
}
float texture_level(float texels) { return texels > 1.0 ? log2(texels) : 0.0; }
vec2 sky_box_margin(float level, vec2 size) { return min(0.5 * exp2(ceil(level)) / size, vec2(0.5)); }
)glsl";

}  // namespace

Rgb light_on(Vec3 normal, const Sun& sun, bool lit) {
  const auto nx = static_cast<float>(normal.x), ny = static_cast<float>(normal.y),
             nz = static_cast<float>(normal.z);
  const auto sx = static_cast<float>(sun.to_sun.x), sy = static_cast<float>(sun.to_sun.y),
             sz = static_cast<float>(sun.to_sun.z);
  const float up = 0.5F + 0.5F * nz, averted = std::max(-(nx * sx + ny * sy), 0.0F);
  const float facing = lit ? std::max(nx * sx + ny * sy + nz * sz, 0.0F) : 0;
  const SkyLight& c = kSkyLight;
  Rgb out{};
  for (size_t k = 0; k < 3; ++k) {
    const float sky =
        sun.ambient * (c.down + (c.up[k] - c.down) * up + c.averted[k] * averted + c.aside * std::fabs(ny));
    out[k] = sky + sun.color[k] * facing;
  }
  return out;
}

float texture_level(double texels) {
  return static_cast<float>(texels > 1 ? math::log(texels) / std::numbers::ln2 : 0);
}

Rgb plain_sky_color(const Sky& sky, Vec3 direction) {
  const auto height = static_cast<float>(direction.z / norm(direction));
  const Rgb& end = height > 0 ? sky.above : sky.below;
  const float share = height > 0 ? smoothstep(kSkyEndAbove, height) : smoothstep(kSkyEndBelow, -height);
  Rgb out{};
  for (size_t k = 0; k < 3; ++k) out[k] = sky.horizon[k] + share * (end[k] - sky.horizon[k]);
  return out;
}

float sky_box_margin(float level, float size) {
  return std::min(0.5F * std::exp2(std::ceil(level)) / size, 0.5F);
}

std::string shading_glsl() {
  return constant("kSkyLightDown", kSkyLight.down) + constant("kSkyLightUp", kSkyLight.up) +
         constant("kSkyLightAverted", kSkyLight.averted) + constant("kSkyLightAside", kSkyLight.aside) +
         constant("kSkyEndAbove", kSkyEndAbove) + constant("kSkyEndBelow", kSkyEndBelow) + kFunctions;
}

}  // namespace mvsim
