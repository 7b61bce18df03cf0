#include "terrain/plate_fit.h"

namespace mvsim {
namespace {

// Points whose spread across is this part of that along leave the tilt open.
constexpr double kThinnest = 1e-6;

double dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

}  // namespace

std::optional<PlatePose> PlateFit::solve() const {
  if (count_ < 3) return std::nullopt;
  const Vec2 center = 1 / count_ * plate_sum_;
  // M = sum of (ground - its centroid) (plate - its centroid)^T, columns m1 and m2
  const Vec3 m1 = combine(1, x_sum_, -center.x, ground_sum_), m2 = combine(1, y_sum_, -center.y, ground_sum_);
  // the plate's x and y axes in the ground's frame: M (M^T M)^-1/2
  const double a = dot(m1, m1), b = dot(m1, m2), c = dot(m2, m2);
  const double determinant = a * c - b * b;
  if (!(determinant > 0)) return std::nullopt;
  const double s = std::sqrt(determinant);
  if (s < kThinnest * (a + c)) return std::nullopt;
  const double scale = 1 / (s * std::sqrt(a + c + 2 * s));
  const Vec3 x_axis = combine(scale * (c + s), m1, -scale * b, m2);
  const Vec3 y_axis = combine(-scale * b, m1, scale * (a + s), m2);
  const double up_z = x_axis.x * y_axis.y - x_axis.y * y_axis.x;  // of the plate's normal
  const double level = std::sqrt(y_axis.z * y_axis.z + up_z * up_z);
  return PlatePose{ground_sum_.z / count_ - (x_axis.z * center.x + y_axis.z * center.y),
                   math::atan2(-x_axis.z, level), math::atan2(y_axis.z, up_z)};
}

}  // namespace mvsim
