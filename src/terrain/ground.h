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

// What stands on the ground and can be driven on: a block's top, in the block's own frame.
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

// Ground that stays as it is.
struct Terrain {
  std::vector<HeightMap> maps;
  std::vector<GroundPlane> planes;

  bool empty() const { return maps.empty() && planes.empty(); }
};

// A block's top where it stands now.
struct PlacedTop {
  const BlockTop* top;
  Pose2 pose;
  double z;
};

// Height of a plane or of a block's top at a point of the world, nothing beside it.
std::optional<double> height_of(const GroundPlane& plane, Vec2 at);
std::optional<double> height_of(const PlacedTop& placed, Vec2 at);

// The largest height at (x, y) that is <= z. Where there is none, that of the lowest elevation map: planes
// and blocks above may be roofs, a map above is a flank that rises steeply. 0 without any.
double highest_under(const Terrain& terrain, std::span<const PlacedTop> tops, Vec2 at, double z);

// The largest height of the elevation maps at a point, nothing where none is.
std::optional<double> highest_map(const Terrain& terrain, Vec2 at);

}  // namespace mvsim
