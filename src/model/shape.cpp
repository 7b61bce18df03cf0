#include "model/shape.h"

#include <algorithm>
#include <limits>

#include "base/math.h"
#include "base/text.h"
#include "worldfile/expression.h"

namespace mvsim {

Polygon convex_hull(Polygon points) {
  std::sort(points.begin(), points.end(),
            [](Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  // Andrew's monotone chain: lower hull, then upper
  Polygon hull;
  hull.reserve(2 * points.size());
  for (int pass = 0; pass < 2; ++pass) {
    const size_t start = hull.size();
    for (Vec2 p : points) {
      while (hull.size() >= start + 2 && cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// Area, centroid and second moment about the origin (per unit of area density) by a fan of triangles.
static void set_mass_properties(ShapeModel& shape) {
  const Polygon& p = shape.outline;
  double area = 0, moment = 0;
  Vec2 first{};
  for (size_t i = 1; i + 1 < p.size(); ++i) {
    const Vec2 a = p[0], b = p[i], c = p[i + 1];
    const double triangle = cross(b - a, c - a) / 2;
    area += triangle;
    first = first + triangle / 3 * (a + b + c);
    moment += triangle / 6 * (dot(a, a) + dot(b, b) + dot(c, c) + dot(a, b) + dot(b, c) + dot(c, a));
  }
  shape.centroid = 1 / area * first;
  shape.unit_inertia = moment / area;
}

ShapeModel make_shape(const Polygon& points, const SourceLocation& where, double farthest) {
  for (Vec2 p : points)
    if (!(std::fabs(p.x) <= farthest && std::fabs(p.y) <= farthest))
      throw WorldFileError(where, "<shape>: a point lies beyond " + number_text(farthest) +
                                      " m, expected a body of this world's size");
  ShapeModel shape;
  shape.outline = convex_hull(points);
  if (shape.outline.size() < 3 || area_of(shape.outline) < 1e-6)
    throw WorldFileError(where,
                         "<shape>: the points enclose less than 1e-6 m2, expected a polygon with an inside");
  for (Vec2 p : shape.outline) shape.radius = std::max(shape.radius, norm(p));
  set_mass_properties(shape);
  if (shape.outline.size() <= static_cast<size_t>(kMaxPieceVertices)) {
    shape.pieces.assign(1, shape.outline);
  } else {
    // two halves that share a chord
    const auto middle = shape.outline.begin() + static_cast<std::ptrdiff_t>(shape.outline.size() / 2);
    Polygon first(shape.outline.begin(), middle + 1);
    Polygon second(middle, shape.outline.end());
    second.push_back(shape.outline.front());
    shape.pieces = {first, second};
  }
  return shape;
}

static bool fits_solver(const ShapeModel& shape, double scale) {
  return std::all_of(shape.pieces.begin(), shape.pieces.end(), [scale](const Polygon& piece) {
    return solver_outline(piece, scale).is_large_enough();
  });
}

void check_for_solver(const ShapeModel& shape, double scale, const SourceLocation& where) {
  if (fits_solver(shape, scale)) return;
  const double needed = min_scale(shape, scale);
  // single precision, counted from the reference point, cannot tell the points of a small outline far from it
  if (!std::isfinite(needed))
    throw WorldFileError(where, "<shape>: the outline is too small for the solver at its distance of " +
                                    number_text(shape.radius) +
                                    " m from the reference point, expected one about it");
  throw WorldFileError(where, "<shape>: the outline is too small for the solver, expected one " +
                                  short_number(needed / scale, 2) + " times as large (some 4 mm at least)");
}

double min_scale(const ShapeModel& shape, double min) {
  if (fits_solver(shape, min)) return min;
  constexpr int kMaxDoublings = 20;
  double low = min, high = min;
  for (int i = 0; i < kMaxDoublings && !fits_solver(shape, high); ++i) high *= 2;
  if (!fits_solver(shape, high)) return std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) {  // to 1e-6 of it
    const double middle = (low + high) / 2;
    (fits_solver(shape, middle) ? high : low) = middle;
  }
  return high;
}

Polygon block_contour(const BlockSpec& spec) {
  const Vec3 l = spec.size;
  switch (spec.geometry) {
    case GeometryType::kBox:
      return {{0, 0}, {l.x, 0}, {l.x, l.y}, {0, l.y}};
    case GeometryType::kRamp:
      return {{0, -l.y / 2}, {l.x, -l.y / 2}, {l.x, l.y / 2}, {0, l.y / 2}};
    case GeometryType::kSemiCylinderBump:
      return {{-l.x / 2, -l.y / 2}, {l.x / 2, -l.y / 2}, {l.x / 2, l.y / 2}, {-l.x / 2, l.y / 2}};
    case GeometryType::kCylinder:
    case GeometryType::kSphere: {
      const int n = std::min(kMaxOutlineVertices, spec.vertex_count);
      // a polygon cut down to 14 vertices still holds the circle
      const double radius =
          n < spec.vertex_count ? spec.radius / sin_cos(kPi / kMaxOutlineVertices).cos : spec.radius;
      Polygon out;
      for (int i = 0; i < n; ++i) {
        const SinCos sc = sin_cos(2 * kPi * i / n);
        out.push_back({radius * sc.cos, radius * sc.sin});
      }
      return out;
    }
    case GeometryType::kPolygon:
      break;
  }
  return spec.shape ? *spec.shape : Polygon{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
}

BlockTop block_top(const BlockSpec& spec, const ShapeModel& shape, double z_max) {
  BlockTop top{.outline = shape.outline, .radius = shape.radius, .height = z_max};
  if (spec.geometry == GeometryType::kRamp || spec.geometry == GeometryType::kSemiCylinderBump) {
    top.shape = spec.geometry == GeometryType::kRamp ? TopShape::kRamp : TopShape::kBump;
    top.height = spec.size.z;
    top.length_x = spec.size.x;
    top.length_y = spec.size.y;
  }
  return top;
}

namespace {

constexpr auto kWeld = static_cast<float>(kMinThickness);

// A ramp or a bump: its profile, stood upright and drawn out along its width or length.
PlacedPrism profile_prism(const BlockTop& top) {
  PlacedPrism out;
  out.T_block_prism = {{}, {1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
  if (top.shape == TopShape::kRamp) {
    out.prism = {
        {{0, 0}, {top.length_x, 0}, {top.length_x, top.height}}, -top.length_y / 2, top.length_y / 2};
    return out;
  }
  constexpr int kSides = 16;
  out.T_block_prism = {{}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  for (int i = 0; i <= kSides; ++i) {
    const SinCos sc = sin_cos(kPi * i / kSides);
    out.prism.outline.push_back({top.length_y / 2 * sc.cos, top.height * sc.sin});
  }
  out.prism.z_min = -top.length_x / 2;
  out.prism.z_max = top.length_x / 2;
  return out;
}

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

PlacedPrism block_prism(const BlockModel& block) {
  if (block.top.shape != TopShape::kFlat) return profile_prism(block.top);
  return {{block.shape.outline, block.z_min, block.z_max, {}}, {}};
}

}  // namespace mvsim
