#include "model/solver_outline.h"

namespace mvsim {
namespace {

constexpr auto kWeld = static_cast<float>(kMinThickness);

}  // namespace

float SolverOutline::area() const {
  float area = 0;
  for (size_t i = 1; i + 1 < count; ++i) {
    const float ax = x[i] - x[0], ay = y[i] - y[0], bx = x[i + 1] - x[0], by = y[i + 1] - y[0];
    area += (ax * by - ay * bx) / 2;
  }
  return area;
}

bool SolverOutline::is_large_enough() const {
  return area() >= kWeld * kWeld;
}

SolverOutline solver_outline(const Polygon& outline, double scale) {
  SolverOutline out{};
  for (const Vec2& vertex : outline) {
    const auto x = static_cast<float>(scale * vertex.x), y = static_cast<float>(scale * vertex.y);
    bool is_near = false;
    for (size_t i = 0; i < out.count && !is_near; ++i) {
      const float dx = x - out.x[i], dy = y - out.y[i];
      is_near = dx * dx + dy * dy < kWeld * kWeld;
    }
    if (is_near || out.count == SolverOutline::kMost) continue;
    out.x[out.count] = x;
    out.y[out.count++] = y;
  }
  return out;
}

}  // namespace mvsim
