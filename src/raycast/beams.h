// Beams of scans: their directions, and intervals of them that can meet a circle.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "raycast/polygon_cast.h"

namespace mvsim {

// Intervals of the beams of a fan that can meet a circle. They never miss a beam, and rarely have more than
// two beams too many. Private to raycast/.

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

// Convex polygons on their way to a fan of beams. They are cast as cast_polygon() does, eight at a time and
// those not at all that lie behind what the beams meet already.
class PolygonRow {
 public:
  // Refers to its arguments.
  PolygonRow(const Fan& fan, double max_range, float* range)
      : fan_(fan), max_range_(max_range), range_(range) {}

  // `around` holds all vertices, which stay where they are until cast().
  void add(std::span<const Vec2> vertices, const Circle& around);
  void cast();

 private:
  const Fan& fan_;
  double max_range_;
  float* range_;
  CircleRow circles_;
  std::array<std::span<const Vec2>, CircleRow::kSize> polygons_;
  size_t count_ = 0;
};

// Beam directions of a uniform fan: a table in the sensor frame, turned by the sensor's yaw for each scan.
//
// The table is immutable, any thread. Turned in double, rounded to float once; the same bits on every
// machine.

class BeamTable {
 public:
  BeamTable() = default;
  // `count` >= 1 beams over `aperture` [rad], counter-clockwise, centred on x:
  // theta_i = -aperture / 2 + i * aperture / (count - 1). One beam looks along x.
  BeamTable(int count, double aperture);

  int count() const { return static_cast<int>(cos_.size()); }
  double angle(int beam) const { return first_angle_ + beam * angle_step_; }  // sensor frame
  double angle_step() const { return angle_step_; }

  // Fills dx[count()], dy[count()] with the unit directions of a sensor turned by `yaw`.
  void directions(double yaw, float* dx, float* dy) const;

  // The same, and the fan of a sensor at `pose` that refers to dx, dy.
  Fan fan(const Pose2& pose, float* dx, float* dy) const;

 private:
  double first_angle_ = 0, angle_step_ = 0;
  std::vector<double> cos_, sin_;
};

}  // namespace mvsim
