// Ground height: elevation maps, level planes and the tops of blocks. Read-only after
// construction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/geometry.h"
#include "terrain/height_map.h"

namespace mvsim {

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

}  // namespace mvsim
