#include "sim/solver_polygon.h"

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
  static_assert(SolverOutline::kMost == b2_maxPolygonVertices);
  const SolverOutline welded = solver_outline(outline, scale);
  if (!welded.is_large_enough()) return std::nullopt;
  std::array<b2Vec2, b2_maxPolygonVertices> points;
  for (size_t i = 0; i < welded.count; ++i) points[i] = b2Vec2(welded.x[i], welded.y[i]);
  b2PolygonShape shape;
  shape.Set(points.data(), static_cast<int32>(welded.count));
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
