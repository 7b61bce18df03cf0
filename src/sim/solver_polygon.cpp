#include "sim/solver_polygon.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace mvsim {
namespace {

float fan_area(std::span<const b2Vec2> points) {
  float area = 0;
  for (size_t i = 1; i + 1 < points.size(); ++i)
    area += b2Cross(points[i] - points[0], points[i + 1] - points[0]) / 2;
  return area;
}

}  // namespace

std::optional<b2PolygonShape> solver_polygon(const Polygon& outline, double scale) {
  constexpr auto kWeld = static_cast<float>(kLeastThickness);
  std::array<b2Vec2, b2_maxPolygonVertices> points;
  size_t n = 0;
  for (const Vec2& vertex : outline) {
    const b2Vec2 p = to_b2(scale * vertex);
    const auto is_near = [p](b2Vec2 q) { return b2DistanceSquared(p, q) < kWeld * kWeld; };
    if (std::none_of(points.begin(), points.begin() + n, is_near)) points[n++] = p;
  }
  if (fan_area({points.data(), n}) < kWeld * kWeld) return std::nullopt;
  b2PolygonShape shape;
  shape.Set(points.data(), static_cast<int32>(n));
  return shape;
}

float area(const b2PolygonShape& shape) {
  return fan_area({shape.m_vertices, static_cast<size_t>(shape.m_count)});
}

void set_wheel_box(const WheelModel& w, double yaw, b2PolygonShape& box) {
  box.SetAsBox(static_cast<float>(w.radius), static_cast<float>(w.width / 2), to_b2(w.position),
               static_cast<float>(yaw));
}

}  // namespace mvsim
