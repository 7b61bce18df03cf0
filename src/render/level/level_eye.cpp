#include "render/level/level_eye.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr double kLevel = 1e-12;

bool is_small(double a, double b) {
  return std::fabs(a) <= kLevel && std::fabs(b) <= kLevel;
}

bool is_unit(Vec3 axis) {
  return std::fabs(dot(axis, axis) - 1) <= 1e-9;
}

// Returns the columns [floor(low), ceil(high)], widened by one, within [0, count); all columns for NaN.
ColumnRange columns_between(double low, double high, int count) {
  if (!(low <= high)) return {0, count};
  const double last = count;
  return {static_cast<int>(std::clamp(low - 1, 0.0, last)),
          static_cast<int>(std::clamp(high + 2, 0.0, last))};
}

}  // namespace

LevelEye::LevelEye(const View& view, const LevelRays& rays, const Frame3& T_world_view)
    : view_(view), is_pinhole_(view.is_pinhole()), near_(view.near), far_(view.far) {
  const Frame3& f = T_world_view;
  origin_ = {f.origin.x, f.origin.y};
  z_ = f.origin.z;
  forward_ = is_pinhole_ ? Vec2{f.z.x, f.z.y} : Vec2{f.x.x, f.x.y};
  left_ = is_pinhole_ ? Vec2{-f.x.x, -f.x.y} : Vec2{f.y.x, f.y.y};
  left_slope_ = rays.dy.front();
  right_slope_ = rays.dy[static_cast<size_t>(rays.width) - 1];
  left_length_ = std::sqrt(1 + left_slope_ * left_slope_);
  right_length_ = std::sqrt(1 + right_slope_ * right_slope_);
}

bool LevelEye::is_level(const View& view, const Frame3& f) {
  if (!is_unit(f.x) || !is_unit(f.y) || !is_unit(f.z)) return false;
  if (view.is_pinhole()) return is_small(f.y.x, f.y.y) && is_small(f.x.z, f.z.z) && f.y.z < 0;
  return is_small(f.z.x, f.z.y) && is_small(f.x.z, f.y.z) && f.z.z > 0;
}

LevelEye::Sight LevelEye::sight_of(Vec2 center, double radius) const {
  return is_pinhole_ ? pinhole_sight(center, radius) : ring_sight(center, radius);
}

LevelEye::Sight LevelEye::pinhole_sight(Vec2 center, double radius) const {
  Sight sight{.columns = {}, .parts = 0, .near = center.x - radius, .far = center.x + radius};
  if (sight.far < near_ || sight.near > far_) return sight;
  if (center.y - center.x * left_slope_ > radius * left_length_ ||
      center.x * right_slope_ - center.y > radius * right_length_)
    return sight;
  sight.parts = 1;
  sight.columns[0] = {0, view_.width};
  if (sight.near <= 1e-3 * radius + 1e-9) return sight;
  const double leftmost = center.y + radius, rightmost = center.y - radius;
  sight.columns[0] = columns_between(
      view_.cx - view_.fx * leftmost / (leftmost > 0 ? sight.near : sight.far),
      view_.cx - view_.fx * rightmost / (rightmost > 0 ? sight.far : sight.near), view_.width);
  return sight;
}

LevelEye::Sight LevelEye::ring_sight(Vec2 center, double radius) const {
  const double squared = dot(center, center), distance = std::sqrt(squared);
  Sight sight{.columns = {}, .parts = 0, .near = distance - radius, .far = distance + radius};
  if (sight.near > far_) return sight;
  sight.parts = 1;
  sight.columns[0] = {0, view_.width};
  if (distance <= radius || !view_.turns) return sight;
  const double azimuth = math::atan2(center.y, center.x);
  const double half = std::min(radius / std::sqrt(squared - radius * radius), kPi / 2);  // tan a > a
  const double per_angle = view_.width / (2 * kPi), width = view_.width;
  const double low = (azimuth - half + kPi) * per_angle, high = (azimuth + half + kPi) * per_angle;
  if (low < 1 && high + 2 > width) return sight;
  sight.columns[0] = columns_between(low, high, view_.width);
  if (low < 1) sight.columns[sight.parts++] = columns_between(low + width, width, view_.width);
  if (high + 2 > width) sight.columns[sight.parts++] = columns_between(-1, high - width, view_.width);
  return sight;
}

ColumnRange LevelEye::narrowed(std::span<const Vec2> outline, ColumnRange columns) const {
  if (!is_pinhole_) return columns;
  double left = -1e300, right = 1e300;
  for (const Vec2 v : outline) {
    if (!(v.x > 1e-6)) return columns;
    const double slope = v.y / v.x;
    left = std::max(left, slope);
    right = std::min(right, slope);
  }
  const ColumnRange own =
      columns_between(view_.cx - view_.fx * left, view_.cx - view_.fx * right, view_.width);
  return {std::max(own.begin, columns.begin), std::min(own.end, columns.end)};
}

bool is_hidden(const LevelPicture& picture, const LevelEye::Sight& sight, double high) {
  if (!(sight.near > 0)) return false;
  const auto slope = static_cast<float>(high / (high > 0 ? sight.near : sight.far));
  for (int part = 0; part < sight.parts; ++part)
    if (!are_closed(picture, sight.columns[part], slope, static_cast<float>(sight.near))) return false;
  return true;
}

}  // namespace mvsim
