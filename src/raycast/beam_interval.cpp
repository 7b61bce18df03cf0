#include "raycast/beam_interval.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

// Of the approximations below, and of directions that are not quite uniform.
constexpr double kAngleError = 2e-3;
constexpr double kLongestPeriod = 1e9;  // beams; finer ones are as good as parallel

// Within 3e-4 of the angle: enough to choose beams, at a tenth of the cost of math::atan2().
double rough_angle(Vec2 v) {
  const double ax = std::fabs(v.x), ay = std::fabs(v.y);
  const double high = std::max(ax, ay), q = high > 0 ? std::min(ax, ay) / high : 0, s = q * q;
  double angle = ((-0.0464964749 * s + 0.15931422) * s - 0.327622764) * s * q + q;
  if (ay > ax) angle = kPi / 2 - angle;
  if (v.x < 0) angle = kPi - angle;
  return v.y < 0 ? -angle : angle;
}

// At least the arcsine of x in [0, 1].
double arcsine_bound(double x) {
  return x + (kPi / 2 - 1) * x * x * x;
}

}  // namespace

Circle bounding_circle(std::span<const Vec2> vertices) {
  Vec2 low = vertices[0], high = vertices[0];
  for (const Vec2 v : vertices) {
    low = {std::min(low.x, v.x), std::min(low.y, v.y)};
    high = {std::max(high.x, v.x), std::max(high.y, v.y)};
  }
  const Vec2 center = 0.5 * (low + high);
  double square = 0;
  for (const Vec2 v : vertices) square = std::max(square, dot(v - center, v - center));
  return {center, std::sqrt(square) * (1 + 1e-12)};
}

BeamIntervals beams_towards(const Fan& fan, Vec2 center, double radius) {
  BeamIntervals result;
  if (fan.count <= 0) return result;
  const double distance = norm(center);
  const double period = 2 * kPi / std::fabs(fan.angle_step);  // of a turn, in beams; infinite for a lone beam
  if (!(distance > radius) || !(fan.count < 3 * period) || !(period < kLongestPeriod)) {
    result.intervals[result.count++] = {0, fan.count};
    return result;
  }
  const double half = arcsine_bound(radius / distance) + kAngleError;
  const double middle = rough_angle(center) - fan.first_angle;
  double low = (middle - half) / fan.angle_step, high = (middle + half) / fan.angle_step;
  if (low > high) std::swap(low, high);
  const double turns =
      std::ceil(-high / period);  // the first copy of the interval that ends at beam 0 or later
  low += turns * period;
  high += turns * period;
  for (; low <= fan.count - 1; low += period, high += period) {
    const int begin = static_cast<int>(std::max(std::ceil(low), 0.0));
    const int end = static_cast<int>(std::min(std::floor(high), fan.count - 1.0)) + 1;
    if (begin < end) result.intervals[result.count++] = {begin, end};
  }
  return result;
}

}  // namespace mvsim
