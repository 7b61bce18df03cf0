// Polynomials of the elementary functions (fdlibm, Sun Microsystems, freely usable coefficients), for the
// scalar forms of math.h and the vector forms of vector_kernels.h, which must agree to the bit.
#pragma once

namespace mvsim::coefficients {

// 1.5 * 2^52: adding and subtracting it rounds to the nearest integer, ties to even
inline constexpr double kRoundingShift = 6755399441055744.0;
inline constexpr double kTwoOverPi = 6.36619772367581382433e-01;
// pi/2 in three pieces (Cody and Waite), the first two with trailing zeros so that products are exact
inline constexpr double kHalfPi[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                     2.02226624879595063154e-21};
// sin x = x + x^3 (s0 + s1 x^2 + ...), cos x = 1 - x^2 / 2 + x^4 (c0 + c1 x^2 + ...) on [-pi/4, pi/4]
inline constexpr double kSin[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                  -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
inline constexpr double kCos[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                  2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                  2.08757232129817482790e-09, -1.13596475577881948265e-11};
// log(1 + f) by s = f / (2 + f): even and odd coefficients in s^2
inline constexpr double kLogEven[] = {3.999999999940941908e-01, 2.222219843214978396e-01,
                                      1.531383769920937332e-01};
inline constexpr double kLogOdd[] = {6.666666666666735130e-01, 2.857142874366239149e-01,
                                     1.818357216161805012e-01, 1.479819860511658591e-01};
inline constexpr double kSqrtHalf = 0.70710678118654752440;
inline constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

// tanh x = x + x z P(z) / Q(z) with z = x^2 on [-0.625, 0.625] (Cephes, S. L. Moshier, freely usable)
inline constexpr double kTanhP[] = {-9.64399179425052238628e-01, -9.92877231001918586564e+01,
                                    -1.61468768441708447952e+03};
inline constexpr double kTanhQ[] = {1.12811678491632931402e+02, 2.23548839060100448583e+03,
                                    4.84406305325125486048e+03};

}  // namespace mvsim::coefficients
