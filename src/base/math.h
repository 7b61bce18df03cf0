// Elementary functions that give the same bits on every compiler, instruction set and C library.
//
// The C library's own choose FMA variants by CPU, so a trajectory would depend on the machine. Built with
// -ffp-contract=off, these use only IEEE +, -, *, / and sqrt. The largest error stands beside each, in ulp of
// its result; tests/cpp/base/math_test.cpp holds them to it. NaN gives NaN.
#pragma once

#include "base/math_coefficients.h"

namespace mvsim {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kDegree = kPi / 180.0;

struct SinCos {
  double sin, cos;
};

// Error: 2 ulp up to 1e6 rad; beyond, that of an angle with an error of 1 ulp. An infinite angle gives NaN.
SinCos sin_cos(double angle);
double wrap_to_pi(double angle);  // to [-pi, pi); 1 ulp of |angle| + pi

// As std::nearbyint for |x| < 2^51, but without a call, and zero is always +0: the sum has no bits left for a
// fraction.
inline double nearest_integer(double x) {
  return x + coefficients::kRoundingShift - coefficients::kRoundingShift;
}

// In a namespace, because the C library has functions of the same names. Call them with math:: in front.
namespace math {

double atan2(double y, double x);  // 3 ulp
// Returns the angle of a vector to an axis, forward or backward, in [0, pi/2]: atan2(|across|, |along|).
double angle_from_axis(double across, double along);
double exp(double x);   // 1 ulp
double log(double x);   // natural, x > 0; 1 ulp
double tanh(double x);  // 3 ulp
// base > 0; 2 ulp and two more for each unit of |exponent log(base)|: it is the exponential of that product.
double pow(double base, double exponent);

// The length of a vector: sqrt(x^2 + y^2), error: 1 ulp. No step overflows or underflows. An infinite side
// gives infinity, else NaN gives NaN.
double hypot(double x, double y);

}  // namespace math

}  // namespace mvsim
