#include "render/level/flat_casters.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr size_t kMost = 48;  // casters of a face; when the sun is low, most bodies shade each face

struct Interval1 {
  double low = 1e300, high = -1e300;
  void hold(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Returns the extent of an outline along a direction.
Interval1 extent(std::span<const Vec2> outline, Vec2 along) {
  Interval1 out;
  for (const Vec2 v : outline) out.hold(dot(v, along));
  return out;
}

}  // namespace

class StandingCasters::Finder {
 public:
  Finder(const PrismMap& map, const Sun& sun, StandingCasters& out) : map_(map), out_(out) {
    const Vec3 to_sun = normalized(sun.to_sun);
    const double level = norm(Vec2{to_sun.x, to_sun.y});
    way_ = (1 / level) * Vec2{to_sun.x, to_sun.y};
    rise_ = to_sun.z / level;
  }

  Range of_side(const PrismMap::Entry& thing, size_t side) {
    const std::span<const Vec2> outline = map_.outline(thing);
    const Vec2 ends[] = {outline[side], outline[side + 1 == outline.size() ? 0 : side + 1]};
    const Vec2 along = ends[1] - ends[0], normal{along.y, -along.x};
    if ((thing.faces & kSides) == 0 || !(dot(normal, way_) > 0)) return {};
    return find(ends, thing, thing.region.z_min, [&](std::span<const Vec2> caster) {
      return extent(caster, normal).high > dot(normal, ends[0]);  // it is partly in front of the side
    });
  }

  Range of_top(const PrismMap::Entry& thing) {
    if ((thing.faces & kTop) == 0) return {};
    return find(map_.outline(thing), thing, thing.region.z_max, [](std::span<const Vec2>) { return true; });
  }

 private:
  // Finds prisms whose shadow falls on the region along `face` at z or above.
  template <typename Before>
  Range find(std::span<const Vec2> face, const PrismMap::Entry& thing, double z, const Before& is_before) {
    const Vec2 aside{-way_.y, way_.x};
    const Interval1 across = extent(face, aside), ahead = extent(face, way_);
    const auto shades = [&](const Interval1& their_across, double their_end, double their_begin,
                            double z_max) {
      const double least = std::max(their_begin - ahead.high, 0.0);  // m, distance of the light
      return their_across.low <= across.high && their_across.high >= across.low && their_end >= ahead.low &&
             z_max - least * rise_ > z;
    };
    Range range{static_cast<uint32_t>(out_.casters_.size()), 0, true};
    map_.visit(
        face[0],
        [&](const PrismRegion& r) {
          const double u = dot(r.center, aside), w = dot(r.center, way_);
          return range.is_complete &&
                 shades({u - r.radius, u + r.radius}, w + r.radius, w - r.radius, r.z_max);
        },
        [&](const PrismMap::Entry& e) {
          if (&e == &thing || (e.faces & kCastsShadow) == 0 || !range.is_complete) return;
          const std::span<const Vec2> outline = map_.outline(e);
          const Interval1 reach = extent(outline, way_);
          if (!shades(extent(outline, aside), reach.high, reach.low, e.region.z_max) || !is_before(outline))
            return;
          range.is_complete = range.count < kMost;
          out_.casters_.push_back(static_cast<uint32_t>(&e - map_.entries().data()));
          ++range.count;
        });
    if (!range.is_complete) out_.casters_.resize(range.begin);
    return range;
  }

  const PrismMap& map_;
  StandingCasters& out_;
  Vec2 way_;  // to the sun
  double rise_ = 1;
};

StandingCasters::StandingCasters(const PrismMap& map, const Sun& sun) {
  Finder finder(map, sun, *this);
  for (const PrismMap::Entry& entry : map.entries()) {
    sides_.resize(
        std::max(sides_.size(), static_cast<size_t>(entry.first) + static_cast<size_t>(entry.count)));
    for (size_t side = 0; side < static_cast<size_t>(entry.count); ++side)
      sides_[static_cast<size_t>(entry.first) + side] = finder.of_side(entry, side);
    tops_.push_back(finder.of_top(entry));
  }
}

}  // namespace mvsim
