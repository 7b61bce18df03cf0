// Intervals of the beams of a fan that can meet a circle. They never miss a beam, and rarely have more than
// two beams too many. Private to raycast/.
#pragma once

#include <array>
#include <span>

#include "raycast/polygon_cast.h"

namespace mvsim {

struct Circle {
  Vec2 center;
  double radius = 0;
};

// Returns a circle around the middle of the bounding box: not the smallest one, but fast. At least one
// vertex.
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

// A few circles in the frame of the fan, which vector instructions process together.
struct CircleRow {
  static constexpr size_t kSize = 8;
  double x[kSize] = {}, y[kSize] = {}, radius[kSize] = {};
};

// For each circle of a row: its least distance from the origin of the fan (below 0 if the origin is inside),
// and the interval of beams that can meet it. The ends are real numbers and belong to the interval. It is the
// first copy, modulo a full turn, that ends at beam 0 or later.
struct BeamRow {
  double nearest[CircleRow::kSize], first[CircleRow::kSize], last[CircleRow::kSize];
};

// Fills `out` for the first `count` circles. intervals_of() then gives the beams of each.
void look_towards(const Fan& fan, const CircleRow& circles, size_t count, BeamRow& out);
BeamIntervals intervals_of(const Fan& fan, const BeamRow& row, size_t circle);

// Returns the beams that can meet one circle.
BeamIntervals beams_towards(const Fan& fan, const Circle& circle);

}  // namespace mvsim
