#include "raycast/polygon_cast.h"

#include <cstddef>
#include <vector>

#include "raycast/beam_interval.h"
#include "raycast/polygon_kernel.h"

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

}  // namespace

void cast_sides(std::span<const PolygonSide> sides, const Fan& fan, const BeamIntervals& beams,
                double max_range, float* range) {
  HalfPlanes planes(fan.origin, sides.size());
  for (const PolygonSide& side : sides) planes.add(side);
  planes.cast(fan, beams, max_range, range);
}

void cast_polygon(const Fan& fan, std::span<const Vec2> vertices, double max_range, float* range) {
  if (vertices.size() < 2) return;
  const Circle around = bounding_circle(vertices);
  if (!(norm(around.center - fan.origin) - around.radius <= max_range)) return;
  HalfPlanes planes(fan.origin, std::max(vertices.size(), kSidesOfALine));
  for_each_side(vertices, [&](const PolygonSide& side) { planes.add(side); });
  planes.cast(fan, beams_towards(fan, around), max_range, range);
}

}  // namespace mvsim
