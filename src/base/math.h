// Elementary functions that give the same bits on every compiler, instruction set and C library.
//
// The C library's own choose FMA variants by CPU, so a trajectory would depend on the machine. Built with
// -ffp-contract=off, these use only IEEE +, -, *, / and sqrt. Accuracy: a few ulp
// (tests/cpp/base/math_test.cpp).
#pragma once

#include <cstdint>

namespace mvsim {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kDegree = kPi / 180.0;

struct SinCos {
  double sin, cos;
};

SinCos sin_cos(double angle);  // any finite angle; beyond 1e9 rad the angle is first reduced by fmod
double arc_tangent(double y, double x);  // atan2
double exponential(double x);
double logarithm(double x);  // natural, x > 0
double hyperbolic_tangent(double x);
double power(double base, double exponent);  // base > 0
double wrap_to_pi(double angle);             // to [-pi, pi)

}  // namespace mvsim
