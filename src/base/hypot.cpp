#include "base/hypot.h"

#include <cmath>
#include <limits>

namespace mvsim {

// Borges, "An Improved Algorithm for hypot(a,b)" (arXiv 1904.09481): a Newton step on the rounded root. The
// error of its square is a sum of small products, because h differs from one of the sides by no more than the
// other.
double math::hypot(double x, double y) {
  const double a = std::fmax(std::fabs(x), std::fabs(y)), b = std::fmin(std::fabs(x), std::fabs(y));
  if (std::isinf(a)) return a;
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  if (b <= a * 0x1p-53) return a + b;
  // the squares of the scaled numbers neither overflow nor lose bits
  if (a > 0x1p500) return math::hypot(a * 0x1p-600, b * 0x1p-600) * 0x1p600;
  if (b < 0x1p-450) return math::hypot(a * 0x1p600, b * 0x1p600) * 0x1p-600;
  const double h = std::sqrt(a * a + b * b);
  const bool is_short = h <= 2.0 * b;
  const double rest = h - (is_short ? b : a);
  const double one = is_short ? a * (2.0 * rest - a) : 2.0 * rest * (a - 2.0 * b);
  const double other = is_short ? (rest - 2.0 * (a - b)) * rest : (4.0 * rest - b) * b + rest * rest;
  return h - (one + other) / (2.0 * h);
}

}  // namespace mvsim
