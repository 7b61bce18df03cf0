#include "raycast/polygon_cast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "raycast/beam_interval.h"
#include "raycast/polygon_kernel.h"

namespace mvsim {
namespace {

constexpr double kTolerance = 1e-9;  // metres; closes the seam between polygons that share an edge
constexpr size_t kUsualEdges = 32;

// Edges as half-planes n . p <= offset, seen from the origin, sorted into those it is outside and inside of.
// With m = n / offset, a ray of direction d crosses such a line where 1 / t = m . d, so min and max need no
// division.
class HalfPlanes {
 public:
  HalfPlanes(std::span<const Vec2> vertices, Vec2 origin) {
    const size_t capacity = std::max(vertices.size(), size_t{4});
    if (capacity > kUsualEdges) many_.resize(2 * capacity);
    Vec2* storage = many_.empty() ? few_.data() : many_.data();
    front_ = storage;
    back_ = storage + (many_.empty() ? kUsualEdges : capacity);

    const double orientation = signed_area(vertices);
    if (orientation == 0) {
      add_segment(vertices, origin);
      return;
    }
    const double outward = orientation > 0 ? 1 : -1;
    for (size_t i = 0, j = vertices.size() - 1; i < vertices.size(); j = i++) {
      const Vec2 along = outward * (vertices[i] - vertices[j]);
      add({along.y, -along.x}, vertices[j] - origin);
    }
  }
  HalfPlanes(const HalfPlanes&) = delete;
  HalfPlanes& operator=(const HalfPlanes&) = delete;

  std::span<const Vec2> front() const { return {front_, front_count_}; }
  std::span<const Vec2> back() const { return {back_, back_count_}; }

 private:
  // Twice the area, 0 for what is as thin as rounding.
  static double signed_area(std::span<const Vec2> vertices) {
    double area = 0, squares = 0;
    for (size_t i = 1; i + 1 < vertices.size(); ++i) {
      const Vec2 a = vertices[i] - vertices[0], b = vertices[i + 1] - vertices[0];
      area += cross(a, b);
      squares += dot(a, a) + dot(b, b);
    }
    return std::fabs(area) > 1e-14 * squares ? area : 0;
  }

  void add(Vec2 normal, Vec2 point) {
    const double offset = dot(normal, point),
                 tolerance = kTolerance * (std::fabs(normal.x) + std::fabs(normal.y));
    if (tolerance == 0) return;  // an edge without length
    if (offset < -tolerance)
      front_[front_count_++] = (1 / offset) * normal;
    else
      back_[back_count_++] = (1 / (offset + tolerance)) * normal;
  }

  // What is all on one line: both sides of it and two ends.
  void add_segment(std::span<const Vec2> vertices, Vec2 origin) {
    const auto farthest = [&](Vec2 from) {
      return *std::max_element(vertices.begin(), vertices.end(), [&](Vec2 a, Vec2 b) {
        return dot(a - from, a - from) < dot(b - from, b - from);
      });
    };
    const Vec2 a = farthest(vertices[0]), b = farthest(a), along = b - a;
    add({along.y, -along.x}, a - origin);
    add({-along.y, along.x}, a - origin);
    add(along, b - origin);
    add(-1.0 * along, a - origin);
  }

  std::array<Vec2, 2 * kUsualEdges> few_;
  std::vector<Vec2> many_;
  Vec2 *front_, *back_;
  size_t front_count_ = 0, back_count_ = 0;
};

}  // namespace

void cast_convex(std::span<const Vec2> vertices, const Fan& fan, const BeamIntervals& beams, double max_range,
                 float* range) {
  const HalfPlanes planes(vertices, fan.origin);
  if (planes.front().empty()) return;  // the origin is inside
  for (const BeamInterval interval : beams)
    cast_half_planes(planes.front(), planes.back(), fan, interval, max_range, range);
}

void cast_polygon(const Fan& fan, std::span<const Vec2> vertices, double max_range, float* range) {
  if (vertices.size() < 2) return;
  const Circle around = bounding_circle(vertices);
  const Vec2 center = around.center - fan.origin;
  if (!(norm(center) - around.radius <= max_range)) return;
  cast_convex(vertices, fan, beams_towards(fan, center, around.radius), max_range, range);
}

}  // namespace mvsim
