#include "raycast/polygon_cast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "raycast/beams.h"
#include "raycast/polygon_sides.h"

namespace mvsim {
namespace {

constexpr size_t kUsualSides = 32;

// Sides as half-planes, sorted into those that the origin is outside and inside of.
class HalfPlanes {
 public:
  HalfPlanes(Vec2 origin, size_t most) : origin_(origin) {
    if (most > kUsualSides) many_.resize(2 * most);
    front_ = many_.empty() ? few_ : many_.data();
    back_ = front_ + (many_.empty() ? kUsualSides : most);
  }
  HalfPlanes(const HalfPlanes&) = delete;
  HalfPlanes& operator=(const HalfPlanes&) = delete;

  void add(const PolygonSide& side) {
    const double offset = dot(side.normal, side.point - origin_);
    if (offset < -side.tolerance)
      front_[front_count_++] = over(side.normal, offset);
    else
      back_[back_count_++] = over(side.normal, offset + side.tolerance);
  }

  void cast(const Fan& fan, const BeamIntervals& beams, double max_range, float* range) const {
    if (front_count_ == 0) return;  // the origin is inside
    for (const BeamInterval interval : beams)
      cast_half_planes({front_, front_count_}, {back_, back_count_}, fan, interval, max_range, range);
  }

 private:
  static HalfPlane over(Vec2 normal, double offset) {
    const Vec2 m = (1 / offset) * normal;
    return {m.x, m.y};
  }

  Vec2 origin_;
  HalfPlane few_[2 * kUsualSides];  // NOLINT(cppcoreguidelines-pro-type-member-init): a kilobyte for a few
  std::vector<HalfPlane> many_;
  HalfPlane *front_, *back_;
  size_t front_count_ = 0, back_count_ = 0;
};

void cast_outline(std::span<const Vec2> vertices, const Fan& fan, const BeamIntervals& beams,
                  double max_range, float* range) {
  HalfPlanes planes(fan.origin, std::max(vertices.size(), kSidesOfALine));
  for_each_side(vertices, [&](const PolygonSide& side) { planes.add(side); });
  planes.cast(fan, beams, max_range, range);
}

}  // namespace

void cast_sides(std::span<const PolygonSide> sides, const Fan& fan, const BeamIntervals& beams,
                double max_range, float* range) {
  HalfPlanes planes(fan.origin, sides.size());
  for (const PolygonSide& side : sides) planes.add(side);
  planes.cast(fan, beams, max_range, range);
}

bool may_shorten(const BeamIntervals& beams, double nearest, const float* range) {
  constexpr double kSlack = 1e-6;  // m; culling must not decide between equal distances
  return std::any_of(beams.begin(), beams.end(),
                     [&](BeamInterval interval) { return any_longer(range, interval, nearest - kSlack); });
}

void PolygonRow::add(std::span<const Vec2> vertices, const Circle& around) {
  if (vertices.size() < 2) return;
  circles_.x[count_] = around.center.x;
  circles_.y[count_] = around.center.y;
  circles_.radius[count_] = around.radius;
  polygons_[count_++] = vertices;
  if (count_ == CircleRow::kSize) cast();
}

void PolygonRow::cast() {
  if (count_ == 0) return;
  BeamRow row;
  look_towards(fan_, circles_, count_, row);
  for (size_t i = 0; i < count_; ++i) {
    if (row.nearest[i] > max_range_) continue;
    const BeamIntervals beams = intervals_of(fan_, row, i);
    if (may_shorten(beams, row.nearest[i], range_))
      cast_outline(polygons_[i], fan_, beams, max_range_, range_);
  }
  count_ = 0;
}

void cast_polygon(const Fan& fan, std::span<const Vec2> vertices, double max_range, float* range) {
  if (vertices.size() < 2) return;
  PolygonRow row(fan, max_range, range);
  row.add(vertices, bounding_circle(vertices));
  row.cast();
}

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

double segment_point_square(Vec2 a, Vec2 b, Vec2 p) {
  const Vec2 ab = b - a, ap = p - a;
  const double length = dot(ab, ab);
  const double s = length > 0 ? std::clamp(dot(ap, ab) / length, 0.0, 1.0) : 0.0;
  const Vec2 d = ap - s * ab;
  return dot(d, d);
}

// Even-odd rule: crossings of the border with the ray from the point to +x.
bool inside(std::span<const Vec2> polygon, Vec2 p) {
  bool odd = false;
  for (size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Vec2 a = polygon[j], b = polygon[i];
    if ((a.y > p.y) == (b.y > p.y)) continue;
    const double side = cross(b - a, p - a);
    if (b.y > a.y ? side > 0 : side < 0) odd = !odd;
  }
  return odd;
}

double border_square(std::span<const Vec2> polygon, Vec2 p) {
  double best = kFar;
  for (size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++)
    best = std::min(best, segment_point_square(polygon[j], polygon[i], p));
  return best;
}

bool cross_properly(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  const double c_side = cross(b - a, c - a), d_side = cross(b - a, d - a);
  const double a_side = cross(d - c, a - c), b_side = cross(d - c, b - c);
  return ((c_side > 0 && d_side < 0) || (c_side < 0 && d_side > 0)) &&
         ((a_side > 0 && b_side < 0) || (a_side < 0 && b_side > 0));
}

bool borders_cross(std::span<const Vec2> a, std::span<const Vec2> b) {
  for (size_t i = 0, j = a.size() - 1; i < a.size(); j = i++)
    for (size_t k = 0, l = b.size() - 1; k < b.size(); l = k++)
      if (cross_properly(a[j], a[i], b[l], b[k])) return true;
  return false;
}

// How far all of a polygon lies beyond one side of a convex, counter-clockwise outline; none of the two meets
// the other where that is positive, and they are no nearer.
double beyond_a_side(std::span<const Vec2> outline, std::span<const Vec2> other) {
  double farthest = 0;
  for (size_t i = 0, j = outline.size() - 1; i < outline.size(); j = i++) {
    const Vec2 along = outline[i] - outline[j], outward{along.y, -along.x};
    double least = dot(outward, other[0] - outline[j]);
    for (const Vec2 corner : other.subspan(1)) least = std::min(least, dot(outward, corner - outline[j]));
    if (least > 0) farthest = std::max(farthest, least / norm(along));
  }
  return farthest;
}

}  // namespace

bool point_in_polygon(std::span<const Vec2> polygon, Vec2 point) {
  return !polygon.empty() && (inside(polygon, point) || border_square(polygon, point) == 0);
}

double polygon_point_distance(std::span<const Vec2> polygon, Vec2 point) {
  if (polygon.empty()) return kFar;
  return inside(polygon, point) ? 0.0 : std::sqrt(border_square(polygon, point));
}

double polygon_circle_distance(std::span<const Vec2> polygon, Vec2 center, double radius) {
  return std::max(polygon_point_distance(polygon, center) - radius, 0.0);
}

double polygon_distance(std::span<const Vec2> a, std::span<const Vec2> b) {
  if (a.empty() || b.empty()) return kFar;
  if (inside(a, b[0]) || inside(b, a[0]) || borders_cross(a, b)) return 0;
  return polygon_distance_apart(a, b);
}

double polygon_distance_apart(std::span<const Vec2> a, std::span<const Vec2> b) {
  // borders that do not cross are nearest at a vertex of one of them
  double best = kFar;
  for (const Vec2 p : b) best = std::min(best, border_square(a, p));
  for (const Vec2 p : a) best = std::min(best, border_square(b, p));
  return std::sqrt(best);
}

double convex_distance(std::span<const Vec2> convex, std::span<const Vec2> other, double limit) {
  constexpr double kSlack = 1e-9, kApart = 1e-6;  // m, beyond any rounding
  const double least = beyond_a_side(convex, other);
  if (least > limit + kSlack) return limit;
  return std::min(limit,
                  least > kApart ? polygon_distance_apart(convex, other) : polygon_distance(convex, other));
}

OutlineSides::OutlineSides(std::span<const Vec2> outline) {
  for (size_t i = 0, j = outline.size() - 1; i < outline.size() && count_ < kMost; j = i++) {
    const Vec2 along = outline[i] - outline[j];
    const double length = norm(along);
    if (!(length > 0)) continue;
    const Vec2 outward{along.y / length, -along.x / length};
    sides_[count_++] = {outward, dot(outward, outline[j])};
  }
}

double OutlineSides::beyond(Vec2 center, double radius) const {
  double farthest = -kFar;
  for (size_t i = 0; i < count_; ++i)
    farthest = std::max(farthest, dot(sides_[i].outward, center) - sides_[i].offset);
  return farthest - radius;
}

double OutlineSides::beyond(std::span<const Vec2> corners) const {
  double farthest = -kFar;
  for (size_t i = 0; i < count_; ++i) {
    double least = kFar;
    for (const Vec2 corner : corners) least = std::min(least, dot(sides_[i].outward, corner));
    farthest = std::max(farthest, least - sides_[i].offset);
  }
  return farthest;
}

}  // namespace mvsim
