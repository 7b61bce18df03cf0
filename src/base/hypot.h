// The length of a vector, by the same bits on every compiler and C library (base/math.h has why).
#pragma once

namespace mvsim::math {

// sqrt(x^2 + y^2), error: 1 ulp. No step overflows or underflows. An infinite side gives infinity, else NaN
// gives NaN.
double hypot(double x, double y);

}  // namespace mvsim::math
