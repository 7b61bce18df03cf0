// Place of a world on the Earth, and its regions without satellites.
#pragma once

#include <vector>

#include "base/geodesy.h"
#include "base/geometry.h"

namespace mvsim {

// A box of the world, edges included, in which a receiver has a fix or none.
struct CoverageRegion {
  Rect extent;
  double z_min = 0, z_max = 0;
  bool hides = false;
};

struct Site {
  Geodetic reference;   // of the tangent plane's origin
  double rotation = 0;  // rad from the world's x to east
  Vec3 origin;          // of the plane, in the world: not 0 where the world is in UTM coordinates
  TangentPlane plane;   // follows from the reference
  std::vector<CoverageRegion> regions;  // the first that holds a point decides

  // East, north, up of a point of the world, m.
  Vec3 enu(Vec3 world) const;
  bool is_covered(Vec3 world) const;
};

}  // namespace mvsim
