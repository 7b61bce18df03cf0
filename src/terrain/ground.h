// The ground: its patches, its heights, and plates fitted to it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/geometry.h"
#include "terrain/height_map.h"

namespace mvsim {

// Properties of the ground under one wheel.

// Values of the property regions there. Where a value is negative, the tire's own value is used.
struct GroundPatch {
  double mu = -1;          // friction coefficient
  double c_rr = -1;        // rolling resistance coefficient
  int surface = -1;        // index of a MAVS surface (tire/vti)
  double cone_index = -1;  // Pa, strength of the soil
};

// Ground height: elevation maps, level planes and the tops of blocks. Read-only after
// construction.

enum class TopShape { kFlat, kRamp, kBump };

// Top of a block that can be driven on, in the block's own frame.
struct BlockTop {
  Polygon outline;  // convex, counter-clockwise
  double radius = 0;
  TopShape shape = TopShape::kFlat;
  double height = 0;                  // flat: z_max; ramp, bump: the highest point
  double length_x = 0, length_y = 0;  // of ramp and bump

  double lowest() const { return shape == TopShape::kFlat ? height : 0; }
  // Height above the block's own z at a local point inside of the outline.
  double height_at(Vec2 local) const;
};

struct GroundPlane {
  Rect extent;  // in the frame of `pose`
  Pose3 pose;   // treated as level
  double z = 0;
};

// Static ground.
struct Terrain {
  std::vector<HeightMap> maps;
  std::vector<GroundPlane> planes;

  bool empty() const { return maps.empty() && planes.empty(); }
};

// Top of a block at its current pose.
struct PlacedTop {
  const BlockTop* top;
  Pose2 pose;
  double z;
};

// Returns the height of a plane or of a block's top at a point of the world. Empty outside of it.
std::optional<double> height_of(const GroundPlane& plane, Vec2 at);
std::optional<double> height_of(const PlacedTop& placed, Vec2 at);

// Returns the largest height at (x, y) that is <= z. If all heights are above z, returns that of the lowest
// elevation map, because planes and blocks above may be roofs. Returns 0 if there is no ground.
double highest_under(const Terrain& terrain, std::span<const PlacedTop> tops, Vec2 at, double z);

// Returns the largest height of the elevation maps at a point. Empty if there is none.
std::optional<double> highest_map(const Terrain& terrain, Vec2 at);

// Pose of a rigid plate, such as a vehicle on its wheels, on points of the ground.

struct PlatePose {
  double z = 0, pitch = 0, roll = 0;  // of the plate's origin; R = Rz(yaw) Ry(pitch) Rx(roll)
};

// The rigid transform that takes points of a level plate nearest to points of the ground, by least squares.
// It is Horn's solution: for points of a plane his quaternion is the polar factor of a 3 x 2 matrix, in
// closed form.
class PlateFit {
 public:
  // Adds a point of the plate and its contact point on the ground. Both frames have nearly the same yaw.
  void add(Vec2 plate, Vec3 ground) {
    count_ += 1;
    plate_sum_ = plate_sum_ + plate;
    ground_sum_ = combine(1, ground_sum_, 1, ground);
    x_sum_ = combine(1, x_sum_, plate.x, ground);
    y_sum_ = combine(1, y_sum_, plate.y, ground);
  }
  bool empty() const { return count_ == 0; }
  // Empty for fewer than three points and for points on one line.
  std::optional<PlatePose> solve() const;

 private:
  static Vec3 combine(double s, Vec3 a, double t, Vec3 b) {
    return {s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
  }

  double count_ = 0;
  Vec2 plate_sum_;
  Vec3 ground_sum_;
  Vec3 x_sum_, y_sum_;  // sums of ground * plate.x and of ground * plate.y
};

}  // namespace mvsim
