#include "base/geometry.h"

#include "base/geometry3.h"

namespace mvsim {
namespace {

// WGS84: semi-axes, squares of the first and the second eccentricity.
constexpr double kA = 6378137.0, kB = 6356752.314245;
constexpr double kE2 = 1 - (kB / kA) * (kB / kA), kSecondE2 = (kA / kB) * (kA / kB) - 1;

double hyperbolic_sine(double x) {
  return (math::exp(x) - math::exp(-x)) / 2;
}
double hyperbolic_cosine(double x) {
  return (math::exp(x) + math::exp(-x)) / 2;
}
double inverse_hyperbolic_sine(double x) {
  const double size = std::fabs(x);
  return std::copysign(math::log(size + std::sqrt(size * size + 1)), x);
}
double inverse_hyperbolic_tangent(double x) {
  return math::log((1 + x) / (1 - x)) / 2;
}

}  // namespace

double area_of(const Polygon& polygon) {
  double twice = 0;
  for (size_t i = 1; i + 1 < polygon.size(); ++i)
    twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  return twice / 2;
}

TangentPlane::TangentPlane(const Geodetic& origin) {
  const SinCos latitude = sin_cos(origin.latitude * kDegree), longitude = sin_cos(origin.longitude * kDegree);
  const double n = kA / std::sqrt(1 - kE2 * latitude.sin * latitude.sin);
  east_ = {-longitude.sin, longitude.cos, 0};
  north_ = {-latitude.sin * longitude.cos, -latitude.sin * longitude.sin, latitude.cos};
  up_ = {latitude.cos * longitude.cos, latitude.cos * longitude.sin, latitude.sin};
  origin_ = {(n + origin.height) * latitude.cos * longitude.cos,
             (n + origin.height) * latitude.cos * longitude.sin,
             (n * (1 - kE2) + origin.height) * latitude.sin};
}

Geodetic TangentPlane::geodetic(Vec3 enu) const {
  const Vec3 p = origin_ + enu.x * east_ + enu.y * north_ + enu.z * up_;
  const double from_axis = std::sqrt(p.x * p.x + p.y * p.y);
  const SinCos theta = sin_cos(math::atan2(p.z * kA, from_axis * kB));
  const double latitude = math::atan2(p.z + kSecondE2 * kB * theta.sin * theta.sin * theta.sin,
                                      from_axis - kE2 * kA * theta.cos * theta.cos * theta.cos);
  // height along the normal: exact at the poles too
  const SinCos normal = sin_cos(latitude);
  const double height =
      from_axis * normal.cos + p.z * normal.sin - kA * std::sqrt(1 - kE2 * normal.sin * normal.sin);
  return {latitude / kDegree, math::atan2(p.y, p.x) / kDegree, height};
}

// Karney, "Transverse Mercator with an accuracy of a few nanometers", J. Geodesy 85 (2011), equations 7
// to 14.
Vec2 utm(const Geodetic& place) {
  constexpr double kScale = 0.9996, kFalseEasting = 500e3, kFalseNorthing = 10e6;
  constexpr double kF = (kA - kB) / kA, kN = kF / (2 - kF), kN2 = kN * kN, kN3 = kN2 * kN, kN4 = kN3 * kN;
  constexpr double kRadius = kA / (1 + kN) * (1 + kN2 / 4 + kN4 / 64);
  constexpr double kAlpha[] = {kN / 2 - 2 * kN2 / 3 + 5 * kN3 / 16 + 41 * kN4 / 180,
                               13 * kN2 / 48 - 3 * kN3 / 5 + 557 * kN4 / 1440,
                               61 * kN3 / 240 - 103 * kN4 / 140, 49561 * kN4 / 161280};
  const double zone = std::floor((place.longitude + 180) / 6);
  const SinCos latitude = sin_cos(place.latitude * kDegree),
               longitude = sin_cos((place.longitude - (zone * 6 - 177)) * kDegree);
  const double e = std::sqrt(kE2), tangent = latitude.sin / latitude.cos;
  const double sigma = hyperbolic_sine(e * inverse_hyperbolic_tangent(e * latitude.sin));
  const double t = tangent * std::sqrt(1 + sigma * sigma) - sigma * std::sqrt(1 + tangent * tangent);
  const double xi = math::atan2(t, longitude.cos);
  const double eta =
      inverse_hyperbolic_sine(longitude.sin / std::sqrt(t * t + longitude.cos * longitude.cos));
  double x = eta, y = xi;
  for (int j = 0; j < 4; ++j) {
    const double k = 2 * (j + 1);
    const SinCos turned = sin_cos(k * xi);
    x += kAlpha[j] * turned.cos * hyperbolic_sine(k * eta);
    y += kAlpha[j] * turned.sin * hyperbolic_cosine(k * eta);
  }
  return {kFalseEasting + kScale * kRadius * x,
          (place.latitude < 0 ? kFalseNorthing : 0) + kScale * kRadius * y};
}

}  // namespace mvsim
