#include "render/rays/ray_shading.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/math.h"

namespace mvsim {
namespace {

float smoothstep(float edge, float x) {
  const float t = std::clamp(x / edge, 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

// The side of the box that one looks at; its picture does not repeat.
Rgb box_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  const SkyPlace place = sky_place(direction);
  const MipImage& side = scene.textures[static_cast<size_t>((*scene.sky.box)[place.side])];
  const double passing = 0.5 * side.size() * pixel_angle;  // texels from one pixel to the next
  const auto level = static_cast<float>(passing > 1 ? math::log(passing) / std::numbers::ln2 : 0);
  const float rim = std::min(0.5F * std::exp2(std::ceil(level)) / static_cast<float>(side.size()), 0.5F);
  const auto within = [&](double at) { return std::clamp(static_cast<float>(at), rim, 1 - rim); };
  const std::array<float, 4> texel = side.at(within(place.u), within(place.v), level);
  return {texel[0], texel[1], texel[2]};
}

}  // namespace

SurfacePoint surface_at(const RayBody& body, const RayTriangle& triangle, Vec3 point) {
  const double w1 = std::clamp(dot(triangle.to_weight[0], point) - triangle.weight_offset[0], 0.0, 1.0);
  const double w2 = std::clamp(dot(triangle.to_weight[1], point) - triangle.weight_offset[1], 0.0, 1.0 - w1);
  const auto b = static_cast<float>(w1), c = static_cast<float>(w2), a = 1 - b - c;
  const RayCorner &p = body.corners[triangle.corners[0]], &q = body.corners[triangle.corners[1]],
                  &r = body.corners[triangle.corners[2]];
  SurfacePoint out;
  for (size_t k = 0; k < 3; ++k) out.base[k] = a * p.base[k] + b * q.base[k] + c * r.base[k];
  for (size_t k = 0; k < 2; ++k) out.uv[k] = a * p.uv[k] + b * q.uv[k] + c * r.uv[k];
  out.alpha = a * p.alpha + b * q.alpha + c * r.alpha;
  const auto normal = [&](size_t k) {
    return static_cast<double>(a * p.normal[k] + b * q.normal[k] + c * r.normal[k]);
  };
  out.normal = {normal(0), normal(1), normal(2)};
  return out;
}

Rgb light_on(Vec3 normal, const Sun& sun, bool lit) {
  const auto nx = static_cast<float>(normal.x), ny = static_cast<float>(normal.y),
             nz = static_cast<float>(normal.z);
  const auto sx = static_cast<float>(sun.to_sun.x), sy = static_cast<float>(sun.to_sun.y),
             sz = static_cast<float>(sun.to_sun.z);
  const float up = 0.5F + 0.5F * nz, averted = std::max(-(nx * sx + ny * sy), 0.0F);
  const float facing = lit ? std::max(nx * sx + ny * sy + nz * sz, 0.0F) : 0;
  constexpr Rgb kUp{0.46F, 0.48F, 0.52F}, kAverted{0.26F, 0.26F, 0.28F};
  Rgb out{};
  for (size_t k = 0; k < 3; ++k) {
    const float sky =
        sun.ambient * (0.30F + (kUp[k] - 0.30F) * up + kAverted[k] * averted + 0.10F * std::fabs(ny));
    out[k] = sky + sun.color[k] * facing;
  }
  return out;
}

float texture_level(double passing) {
  return static_cast<float>(passing > 1 ? math::log(passing) / std::numbers::ln2 : 0);
}

Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  return scene.sky.box ? box_color(scene, direction, pixel_angle) : plain_sky_color(scene.sky, direction);
}

Rgb plain_sky_color(const Sky& sky, Vec3 direction) {
  const auto height = static_cast<float>(direction.z / norm(direction));
  const Rgb& end = height > 0 ? sky.above : sky.below;
  const float share = height > 0 ? smoothstep(0.7F, height) : smoothstep(0.4F, -height);
  Rgb out{};
  for (size_t k = 0; k < 3; ++k) out[k] = sky.horizon[k] + share * (end[k] - sky.horizon[k]);
  return out;
}

}  // namespace mvsim
