#include "tire/vti_traction.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"

namespace mvsim {
namespace {

constexpr double kInch = 0.0254;                 // m
constexpr double kPoundForce = 4.4482216152605;  // N
constexpr double kPsi = 6894.76;                 // Pa
constexpr double kLn10 = 2.302585092994045684;
constexpr double kMaxDeflection = 0.95;  // of the section height: where the numerics of soil end
constexpr double kMinMobility = 1e-3;    // of clay; below it nothing moves

double relative_deflection(const TireContact& c) {
  return std::clamp(c.deflection / c.section_height, 0.0, kMaxDeflection);
}

double power_3_2(double x) {
  return x * std::sqrt(x);
}

// Motion resistance falls with the mobility numeric of an unpowered wheel, which is in inches and pounds.
double sand_resistance(const TireContact& c, double q) {
  const double area = c.width * c.diameter / (kInch * kInch);
  const double mobility =
      c.cone_index / kPsi * power_3_2(area) / (c.load / kPoundForce * (1 - q) * (1 + c.width / c.diameter));
  const double x = 0.44 - 0.002287 * mobility;
  const double rest = 0.0000457 * mobility + 0.08;
  const double root = std::sqrt(x * x + rest);
  // the same on both sides, but digits are kept where x is far below zero
  return (x < 0 ? rest / (root - x) : x + root) + 0.05 * q;
}

Traction sand(const TireContact& c, double slip) {
  const double q = relative_deflection(c);
  const double numeric = c.cone_index / (3.47 * kInch) * power_3_2(c.width * c.diameter) / c.load * q;
  const auto gross = [&](double s) { return 0.66 * (numeric + 10) * s / ((numeric + 14.71) * s + 1.72); };
  return {std::copysign(gross(std::fabs(slip)), slip), sand_resistance(c, q), gross(1)};
}

Traction clay(const TireContact& c, double slip) {
  const double q = relative_deflection(c);
  const double fourth_root = std::sqrt(std::sqrt(1 + c.width / c.diameter));
  const double numeric =
      std::max(kMinMobility, c.cone_index * c.width * c.diameter /
                                 (c.load * power_3_2(1 - q) * fourth_root * fourth_root * fourth_root));
  const double squared = numeric * numeric;
  const double self_propelled = 21 / (squared * std::sqrt(numeric)) + 0.005;
  const double resistance = 12 / squared + 0.007;
  const auto gross = [&](double s) {
    if (!(s > 0)) return 0.0;
    const double net = 0.5 * math::log(s / self_propelled) / kLn10 * fourth_root;
    return std::clamp(net + resistance, 0.0, 1.0);
  };
  return {std::copysign(gross(std::fabs(slip)), slip), std::min(resistance, 1.0), gross(1)};
}

}  // namespace

double MagicFormula::at(double slip) const {
  const double x = stiffness * slip;
  return peak * sin_cos(shape * math::atan2(x - curvature * (x - math::atan2(x, 1)), 1)).sin;
}

MagicFormula rigid_formula(Surface surface) {
  switch (surface) {
    case Surface::kWet:
      return {12, 2.3, 0.82, 1};
    case Surface::kSnow:
      return {5, 2, 0.3, 1};
    case Surface::kIce:
      return {4, 2, 0.1, 1};
    default:
      return {10, 1.9, 1, 0.97};
  }
}

Traction traction(Surface surface, const TireContact& contact, double slip) {
  if (!(contact.load > 0)) return {};
  if (surface == Surface::kSand) return sand(contact, slip);
  if (surface == Surface::kClay) return clay(contact, slip);
  const MagicFormula formula = rigid_formula(surface);
  return {formula.at(slip), 0, formula.peak};
}

double crolla(double slip_angle, double crossover) {
  return std::copysign(1 - math::exp(-std::fabs(slip_angle) / crossover), slip_angle);
}

double ellipse_rest(double gross, double peak) {
  if (!(peak > 0)) return 0;
  const double share = gross / peak;
  return std::sqrt(std::max(0.0, 1 - share * share));
}

Vec2 corrected_force(Surface surface, const TireContact& contact, double slip, double slip_angle,
                     double crossover, double motion) {
  const Traction t = traction(surface, contact, slip);
  const double max_lateral = t.peak * ellipse_rest(t.gross, t.peak);
  const double lateral = std::clamp(-t.peak * crolla(slip_angle, crossover), -max_lateral, max_lateral);
  return {contact.load * (t.gross - t.resistance * motion), contact.load * lateral};
}

}  // namespace mvsim
