#include "render/rays/ray_shading.h"

#include <algorithm>

namespace mvsim {
namespace {

// Returns the colour of the box's side in a direction.
Rgb box_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  const SkyPlace place = sky_place(direction);
  const MipImage& side = scene.textures[static_cast<size_t>((*scene.sky.box)[place.side])];
  const float level = texture_level(0.5 * side.size() * pixel_angle);
  const float margin = sky_box_margin(level, static_cast<float>(side.size()));
  const auto within = [&](double at) { return std::clamp(static_cast<float>(at), margin, 1 - margin); };
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

Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  return scene.sky.box ? box_color(scene, direction, pixel_angle) : plain_sky_color(scene.sky, direction);
}

}  // namespace mvsim
