// The functions of $f{...} that have no memory, built on base/math.h so that they give the same bits
// everywhere.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"
#include "worldfile/expression.h"

namespace mvsim {
namespace {

constexpr size_t kAny = 1000;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SinCos sine_cosine(double x) {
  return std::isfinite(x) ? sin_cos(x) : SinCos{kNan, kNan};
}

double exp_minus_one(double x) {
  const double u = math::exp(x);  // Kahan: the error of u cancels in the quotient
  if (u == 1) return x;
  if (u - 1 == -1) return -1;
  return std::isfinite(u) ? (u - 1) * x / math::log(u) : u;
}

double log_or_nan(double x) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  return x > 0 ? math::log(x) : kNan;
}

double log_one_plus(double x) {
  const double u = 1 + x;
  if (u == 1) return x;
  return u > 0 && std::isfinite(u) ? math::log(u) * x / (u - 1) : log_or_nan(u);
}

// Exact for whole powers of the base.
double log_to_base(double x, double base) {
  const double value = log_or_nan(x) / log_or_nan(base);
  const double whole = std::floor(value + 0.5);
  if (std::fabs(value - whole) < 1e-9 && expression_power(base, whole) == x) return whole;
  return value;
}

double asin_of(double x) {
  return math::atan2(x, std::sqrt((1 - x) * (1 + x)));
}
double acos_of(double x) {
  return math::atan2(std::sqrt((1 - x) * (1 + x)), x);
}

double hyperbolic_sine(double x) {
  const double u = exp_minus_one(std::fabs(x));
  const double value = std::isfinite(u) ? (u + u / (u + 1)) / 2 : u;
  return x < 0 ? -value : value;
}

double inverse_hyperbolic_sine(double x) {
  const double a = std::fabs(x);
  const double value = log_one_plus(a + a * a / (1 + std::sqrt(1 + a * a)));
  return x < 0 ? -value : value;
}

double sum(const double* x, size_t n) {
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += x[i];
  return total;
}

double product(const double* x, size_t n) {
  double total = 1;
  for (size_t i = 0; i < n; ++i) total *= x[i];
  return total;
}

double nth_root(double x, double n) {
  if (n == 2) return std::sqrt(x);
  const bool odd = std::fmod(std::fabs(n), 2) == 1;
  return x < 0 && odd ? -expression_power(-x, 1 / n) : expression_power(x, 1 / n);
}

using X = const double*;

constexpr ExpressionFunction kFunctions[] = {
    {"abs", 1, 1, [](X x, size_t) { return std::fabs(x[0]); }},
    {"ceil", 1, 1, [](X x, size_t) { return std::ceil(x[0]); }},
    {"floor", 1, 1, [](X x, size_t) { return std::floor(x[0]); }},
    {"round", 1, 1, [](X x, size_t) { return std::round(x[0]); }},
    {"trunc", 1, 1, [](X x, size_t) { return std::trunc(x[0]); }},
    {"int", 1, 1, [](X x, size_t) { return std::trunc(x[0]); }},
    {"frac", 1, 1, [](X x, size_t) { return x[0] - std::trunc(x[0]); }},
    {"sgn", 1, 1, [](X x, size_t) { return x[0] > 0   ? 1.0
                                           : x[0] < 0 ? -1.0
                                                      : 0.0; }},
    {"sqrt", 1, 1, [](X x, size_t) { return std::sqrt(x[0]); }},
    {"exp", 1, 1, [](X x, size_t) { return math::exp(x[0]); }},
    {"expm1", 1, 1, [](X x, size_t) { return exp_minus_one(x[0]); }},
    {"log", 1, 1, [](X x, size_t) { return log_or_nan(x[0]); }},
    {"log10", 1, 1, [](X x, size_t) { return log_to_base(x[0], 10); }},
    {"log2", 1, 1, [](X x, size_t) { return log_to_base(x[0], 2); }},
    {"log1p", 1, 1, [](X x, size_t) { return log_one_plus(x[0]); }},
    {"logn", 2, 2, [](X x, size_t) { return log_to_base(x[0], x[1]); }},
    {"pow", 2, 2, [](X x, size_t) { return expression_power(x[0], x[1]); }},
    {"root", 2, 2, [](X x, size_t) { return nth_root(x[0], x[1]); }},
    {"hypot", 2, 2, [](X x, size_t) { return std::sqrt(x[0] * x[0] + x[1] * x[1]); }},
    {"min", 1, kAny, [](X x, size_t n) { return *std::min_element(x, x + n); }},
    {"max", 1, kAny, [](X x, size_t n) { return *std::max_element(x, x + n); }},
    {"avg", 1, kAny, [](X x, size_t n) { return sum(x, n) / static_cast<double>(n); }},
    {"sum", 1, kAny, [](X x, size_t n) { return sum(x, n); }},
    {"mul", 1, kAny, [](X x, size_t n) { return product(x, n); }},
    {"clamp", 3, 3, [](X x, size_t) { return x[1] < x[0]   ? x[0]
                                             : x[1] > x[2] ? x[2]
                                                           : x[1]; }},
    {"inrange", 3, 3, [](X x, size_t) { return x[0] <= x[1] && x[1] <= x[2] ? 1.0 : 0.0; }},
    {"mod", 2, 2, [](X x, size_t) { return std::fmod(x[0], x[1]); }},
    {"sin", 1, 1, [](X x, size_t) { return sine_cosine(x[0]).sin; }},
    {"cos", 1, 1, [](X x, size_t) { return sine_cosine(x[0]).cos; }},
    {"tan", 1, 1, [](X x, size_t) { return sine_cosine(x[0]).sin / sine_cosine(x[0]).cos; }},
    {"sec", 1, 1, [](X x, size_t) { return 1 / sine_cosine(x[0]).cos; }},
    {"csc", 1, 1, [](X x, size_t) { return 1 / sine_cosine(x[0]).sin; }},
    {"cot", 1, 1, [](X x, size_t) { return sine_cosine(x[0]).cos / sine_cosine(x[0]).sin; }},
    {"asin", 1, 1, [](X x, size_t) { return asin_of(x[0]); }},
    {"acos", 1, 1, [](X x, size_t) { return acos_of(x[0]); }},
    {"atan", 1, 1, [](X x, size_t) { return math::atan2(x[0], 1); }},
    {"atan2", 2, 2, [](X x, size_t) { return math::atan2(x[0], x[1]); }},
    {"sinh", 1, 1, [](X x, size_t) { return hyperbolic_sine(x[0]); }},
    {"cosh", 1, 1, [](X x, size_t) { return (math::exp(x[0]) + math::exp(-x[0])) / 2; }},
    {"tanh", 1, 1, [](X x, size_t) { return math::tanh(x[0]); }},
    {"asinh", 1, 1, [](X x, size_t) { return inverse_hyperbolic_sine(x[0]); }},
    {"acosh", 1, 1, [](X x, size_t) { return log_or_nan(x[0] + std::sqrt(x[0] * x[0] - 1)); }},
    {"atanh", 1, 1, [](X x, size_t) { return log_one_plus(2 * x[0] / (1 - x[0])) / 2; }},
    {"deg2rad", 1, 1, [](X x, size_t) { return x[0] * kDegree; }},
    {"rad2deg", 1, 1, [](X x, size_t) { return x[0] / kDegree; }},
};

}  // namespace

double expression_power(double base, double exponent) {
  const double whole = std::trunc(exponent);
  if (whole == exponent && std::fabs(exponent) <= 1024) {  // by squaring: exact where the result is
    double result = 1, square = base;
    for (auto n = static_cast<unsigned>(std::fabs(exponent)); n > 0; n >>= 1) {
      if (n & 1) result *= square;
      square *= square;
    }
    return exponent < 0 ? 1 / result : result;
  }
  if (base > 0) return exponent == 0.5 ? std::sqrt(base) : math::pow(base, exponent);
  if (base == 0) return exponent > 0 ? 0.0 : kNan;
  return kNan;
}

const ExpressionFunction* find_expression_function(std::string_view lower_name) {
  for (const ExpressionFunction& function : kFunctions)
    if (function.name == lower_name) return &function;
  return nullptr;
}

std::vector<std::string> expression_function_names() {
  std::vector<std::string> out{"if", "not", "rand", "randn", "unifrnd", "randomize"};
  for (const ExpressionFunction& function : kFunctions) out.emplace_back(function.name);
  return out;
}

}  // namespace mvsim
