// Expected values: pyproj 3 (PROJ), ellipsoid of WGS84.
#include "base/geometry.h"

#include <gtest/gtest.h>

namespace mvsim::geodesy_test {
namespace {

TEST(Geodesy, UtmIsThatOfProj) {
  struct Case {
    double latitude, longitude, easting, northing;
  };
  constexpr Case kCases[] = {
      {36.8407, -2.4075, 552828.360491, 4077364.723719}, {-33.9, 18.4, 259583.221660, 6245888.045441},
      {60.0, 5.0, 611544.041977, 6653097.435295},        {0.5, 179.9, 822823.962553, 55336.377566},
      {83.0, -10.0, 486394.724051, 9216576.865585},      {48.137, 11.575, 691567.326384, 5334734.330482}};
  for (const Case& c : kCases) {
    const Vec2 found = utm({c.latitude, c.longitude, 0});
    EXPECT_NEAR(found.x, c.easting, 2e-5) << c.latitude;
    EXPECT_NEAR(found.y, c.northing, 2e-5) << c.latitude;
  }
}

TEST(Geodesy, ATangentPlaneIsThatOfProj) {
  struct Case {
    Vec3 enu;
    double latitude, longitude, height;
  };
  constexpr Case kCases[] = {{{0, 0, 0}, 36.840700000000, -2.407500000000, 120.0000000},
                             {{100, 0, 0}, 36.840699994714, -2.406378907352, 120.0007830},
                             {{0, 100, 0}, 36.841601089545, -2.407500000000, 120.0007863},
                             {{-3000, 5000, 40}, 36.885749251912, -2.441152305359, 162.6705209},
                             {{60000, -70000, 1000}, 36.208169563405, -1.740457313360, 1787.0639835}};
  const TangentPlane plane({36.8407, -2.4075, 120});
  for (const Case& c : kCases) {
    const Geodetic found = plane.geodetic(c.enu);
    EXPECT_NEAR(found.latitude, c.latitude, 2e-11) << c.enu.x;
    EXPECT_NEAR(found.longitude, c.longitude, 2e-11) << c.enu.x;
    EXPECT_NEAR(found.height, c.height, 1e-6) << c.enu.x;
  }
}

TEST(Geodesy, APlaneAtThePoleHasItsHeight) {
  const Geodetic found = TangentPlane({90, 0, 50}).geodetic({0, 0, 10});
  EXPECT_NEAR(found.latitude, 90, 1e-12);
  EXPECT_NEAR(found.height, 60, 1e-8);
}

}  // namespace
}  // namespace mvsim::geodesy_test
