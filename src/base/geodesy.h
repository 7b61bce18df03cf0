// Places on the Earth: the ellipsoid of WGS84, tangent planes, UTM. Angles in degrees, lengths in metres.
#pragma once

#include "base/geometry.h"

namespace mvsim {

struct Geodetic {
  double latitude = 0, longitude = 0;  // degrees, north and east
  double height = 0;                   // m above the ellipsoid
};

// Tangent plane of the Earth: converts east, north, up from a place to geodetic coordinates. Bowring's closed
// form: within 1e-9 degrees and 1e-6 m up to some 100 km away.
class TangentPlane {
 public:
  explicit TangentPlane(const Geodetic& origin);
  Geodetic geodetic(Vec3 enu) const;

 private:
  Vec3 east_, north_, up_, origin_;  // earth-centred, earth-fixed
};

// Easting and northing (x, y) in the zone of its longitude, by Krueger's series to the fourth order (1e-5 m
// within the zone); south of the equator northing counts from 10,000 km.
Vec2 utm(const Geodetic& place);

}  // namespace mvsim
