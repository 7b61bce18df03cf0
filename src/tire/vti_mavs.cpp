#include "tire/vti_mavs.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "tire/rolling.h"

namespace mvsim {
namespace {

constexpr double kLn10 = 2.302585092994045684;

// A magic formula fitted to Brixius's net pull.
double mavs_sand(const TireContact& c, double slip) {
  const double numeric = c.cone_index * c.width * c.diameter / c.load *
                         (1 + 5 * c.deflection / c.section_height) / (1 + 3 * c.width / c.diameter);
  if (!(numeric > 5)) return MagicFormula{10, 1.9, 1e-4, 0.97}.at(slip);
  const double x = numeric - 4.033;
  return MagicFormula{1.6 * math::log(0.119 * x) * math::exp(-0.113 * x) + 4.906,
                      1.213 * (1 - math::exp(-0.0765 * (numeric - 2.846))), 1,
                      1.0925 + 0.721 / math::pow(numeric - 4.693, 0.981)}
      .at(slip);
}

double mavs_clay(const TireContact& c, double slip) {
  const double q = c.deflection / c.section_height;
  if (!(slip > 0) || q > 1) return -1;
  if (q == 1) return 1;
  const double slender = 1 + c.width / c.diameter;
  const double numeric =
      c.cone_index * c.width * c.diameter / (c.load * (1 - q) * std::sqrt(1 - q) * math::pow(slender, 0.75));
  const double self_propelled = 21 / math::pow(numeric, 2.5);
  const double pull = 0.5 * math::log(slip / self_propelled) / kLn10 * std::sqrt(std::sqrt(slender));
  return std::clamp(pull - (12 / (numeric * numeric) + 0.007), -1.0, 1.0);
}

double mavs_traction(Surface surface, const TireContact& contact, double slip) {
  if (!(contact.load > 0)) return 0;
  if (surface == Surface::kSand) return mavs_sand(contact, slip);
  if (surface == Surface::kClay) return mavs_clay(contact, slip);
  return rigid_formula(surface).at(slip);
}

}  // namespace

double mavs_slip_ratio(double rolling_speed, double speed, bool starting) {
  if (rolling_speed == 0 && speed < 0) return 0;
  if (starting && rolling_speed >= 0 && speed > rolling_speed) return 0;
  return slip_ratio(rolling_speed, speed, 0);
}

double mavs_slip_angle(double speed, double lateral_speed, double steer) {
  if (std::fabs(speed) <= 1e-3) return 0;
  return math::atan2(std::clamp(lateral_speed / std::fabs(speed), -kPi / 2, kPi / 2), 1) - steer;
}

Vec2 mavs_force(Surface surface, const TireContact& contact, double slip, double slip_angle,
                double crossover) {
  return {contact.load * mavs_traction(surface, contact, slip),
          -contact.load * crolla(slip_angle, crossover)};
}

MavsUpdate mavs_update(const MavsTire& tire, Surface surface, double cone_index, const MavsHub& hub) {
  const double friction = hub.dt * tire.viscous * hub.spin;
  if (!(hub.depth > 0))
    return {.spin = hub.starting ? 0 : hub.spin + hub.dt / tire.inertia * hub.torque - friction};
  const double up = tire.stiffness * hub.depth - tire.damping * hub.rise;
  const double load = std::fabs(up);
  const double slip = mavs_slip_ratio(tire.radius * hub.spin, hub.speed, hub.starting);
  Vec2 force{};
  double spin = 0;
  if (!hub.starting) {
    const TireContact contact{load, hub.depth, tire.section_height, tire.width, 2 * tire.radius, cone_index};
    force = mavs_force(surface, contact, slip, mavs_slip_angle(hub.speed, hub.lateral_speed, hub.steer),
                       tire.crossover);
    spin = hub.spin + hub.dt / tire.inertia * (hub.torque - force.x * tire.radius) - friction;
  }
  const double turning = std::max(1.0, std::fabs(spin));
  const double drag = std::min(2 * load / (turning * turning), 0.25 / hub.dt);
  return {force.x - drag * hub.speed, force.y - drag * hub.lateral_speed, up - drag * hub.rise, spin, slip};
}

}  // namespace mvsim
