#include "render/rays/placed_body.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"

namespace mvsim {
namespace {

constexpr PixelRect kNowhere{};

PixelRect whole(const View& view) {
  return {0, view.width, 0, view.height};
}

// Returns the columns or rows whose rays may pass through [low, high], widened by one.
std::pair<int, int> pixels_within(double low, double high, int count) {
  const auto bounded = [count](double v) {
    return static_cast<int>(std::clamp(v, -2.0, static_cast<double>(count) + 2));
  };
  return {std::max(0, bounded(std::floor(low)) - 1), std::min(count, bounded(std::ceil(high)) + 2)};
}

// Returns the greatest and the least across / along over a sphere whose nearest point is in front of the
// view.
std::pair<double, double> slopes(double across, double along, double radius) {
  const double high = across + radius, low = across - radius;
  return {low / (low < 0 ? along - radius : along + radius),
          high / (high > 0 ? along - radius : along + radius)};
}

PixelRect pinhole_rect(const View& view, Vec3 center, double radius) {
  if (center.z + radius < view.near || center.z - radius > view.far) return kNowhere;
  if (center.z - radius < 1e-3 * radius + 1e-9) return whole(view);
  const auto [x_low, x_high] = slopes(center.x, center.z, radius);
  const auto [y_low, y_high] = slopes(center.y, center.z, radius);
  const auto [left, right] = pixels_within(view.cx + view.fx * x_low, view.cx + view.fx * x_high, view.width);
  const auto [top, bottom] =
      pixels_within(view.cy + view.fy * y_low, view.cy + view.fy * y_high, view.height);
  return {left, right, top, bottom};
}

PixelRect ring_rect(const View& view, Vec3 center, double radius) {
  const double distance = norm(center), level = math::hypot(center.x, center.y);
  if (distance - radius > view.far) return kNowhere;
  PixelRect rect = whole(view);
  if (distance <= radius) return rect;
  const double elevation = math::atan2(center.z, level);
  const double half_height = math::atan2(radius, std::sqrt(distance * distance - radius * radius)) + 1e-6;
  const auto first = std::partition_point(view.rings.begin(), view.rings.end(), [&](const SinCos& ring) {
    return math::atan2(ring.sin, ring.cos) < elevation - half_height;
  });
  const auto last = std::partition_point(first, view.rings.end(), [&](const SinCos& ring) {
    return math::atan2(ring.sin, ring.cos) <= elevation + half_height;
  });
  rect.top = static_cast<int>(first - view.rings.begin());
  rect.bottom = static_cast<int>(last - view.rings.begin());
  if (level <= radius || !view.turns) return rect;
  const double azimuth = math::atan2(center.y, center.x);
  const double half_width = math::atan2(radius, std::sqrt(level * level - radius * radius));
  if (azimuth - half_width < -kPi || azimuth + half_width > kPi) return rect;  // behind: at both ends
  const double columns = view.width / (2 * kPi);
  std::tie(rect.left, rect.right) = pixels_within((azimuth - half_width + kPi) * columns,
                                                  (azimuth + half_width + kPi) * columns, view.width);
  return rect;
}

}  // namespace

bool is_sound(const Frame3& f) {
  constexpr double kFarthest = 1e9;  // m
  const auto is_axis = [](Vec3 v) { return norm(v) >= 1e-3 && norm(v) <= kFarthest; };
  return norm(f.origin) <= kFarthest && is_axis(f.x) && is_axis(f.y) && is_axis(f.z);
}

bool is_sound(const ScenePose& pose) {
  constexpr double kLargest = 1e6;
  return is_sound(pose.T_world_frame) && pose.scale >= 1 / kLargest && pose.scale <= kLargest;
}

PixelRect rect_of(const View& view, Vec3 center, double radius) {
  return view.is_pinhole() ? pinhole_rect(view, center, radius) : ring_rect(view, center, radius);
}

std::vector<PlacedBody> place_bodies(const RayScene& scene, std::span<const ScenePose> poses,
                                     const View& view, const ViewPoint& from) {
  const bool shadows =
      scene.has_shadows && (view.content == ViewContent::kColor || view.content == ViewContent::kIntensity);
  const Frame3& eye = from.T_world_view;
  std::vector<PlacedBody> out;
  for (const RayGroup& group : scene.groups) {
    const ScenePose& pose = poses[group.frame];
    if (!is_sound(pose)) continue;  // the world has diverged
    const Frame3& f = pose.T_world_frame;
    const double s = pose.scale, wide = std::max(1.0, s), r = 1 / s;
    PlacedBody body;
    body.group = &group;
    body.world_origin = f.origin;
    body.body_from_world = {
        {r * f.x.x, r * f.y.x, f.z.x}, {r * f.x.y, r * f.y.y, f.z.y}, {r * f.x.z, r * f.y.z, f.z.z}};
    body.world_from_body = {s * f.x, s * f.y, f.z};
    body.world_from_normal = {r * f.x, r * f.y, f.z};
    body.eye = body.to_body(eye.origin);
    body.body_from_view = {body.body_from_world(eye.x), body.body_from_world(eye.y),
                           body.body_from_world(eye.z)};
    const Vec3 o = group.body->origin;
    body.world_center = f.transform({s * o.x, s * o.y, o.z});
    body.radius = wide * group.body->radius;
    const Vec3 seen = body.world_center - eye.origin;
    body.rect = rect_of(view, {dot(seen, eye.x), dot(seen, eye.y), dot(seen, eye.z)}, body.radius);
    const bool hidden = (group.sensor != Instance::kNoSensor && group.sensor == from.sensor) ||
                        std::find(from.hidden_frames.begin(), from.hidden_frames.end(), group.frame) !=
                            from.hidden_frames.end();
    body.is_seen = !hidden && !body.rect.empty();
    if (body.is_seen || (shadows && group.body->casts_shadow())) out.push_back(body);
  }
  return out;
}

}  // namespace mvsim
