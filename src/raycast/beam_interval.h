// Which beams of a fan can meet a circle: never too few, rarely more than two too many. Private to raycast/.
#pragma once

#include <array>
#include <span>

#include "raycast/polygon_cast.h"

namespace mvsim {

struct Circle {
  Vec2 center;
  double radius = 0;
};

// Around the middle of the bounding box: not the smallest, but quick. At least one vertex.
Circle bounding_circle(std::span<const Vec2> vertices);

struct BeamInterval {
  int begin = 0, end = 0;
};

// At most one interval for each turn that the fan covers; fans beyond three turns are taken whole.
struct BeamIntervals {
  std::array<BeamInterval, 4> intervals;
  int count = 0;
  const BeamInterval* begin() const { return intervals.data(); }
  const BeamInterval* end() const { return intervals.data() + count; }
};

// `center` relative to the fan's origin.
BeamIntervals beams_towards(const Fan& fan, Vec2 center, double radius);

}  // namespace mvsim
