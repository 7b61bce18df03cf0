// Whether the tires' default C_damping, which suits robots of some kilograms, is far too much for a lighter
// one.
#include "model/compile_parts.h"

#include <cstdio>
#include <set>

namespace mvsim {
namespace {

constexpr std::string_view kName = "C_damping";
constexpr double kLeast = 0.5;  // s in which a vehicle that rolls freely may lose its speed (to 1/e)
constexpr double kUsual = 5;    // s that are usual

const ParamInfo* damping_of(const TireModel& tire) {
  for (const ParamInfo& param : tire.params())
    if (param.name == kName) return &param;
  return nullptr;
}

}  // namespace

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

void check_dampings(const WorldSpec& spec, Model& model) {
  std::set<std::string> reported;
  for (const VehicleSpec& vehicle : spec.vehicles) {
    const VehicleModel& v = model.vehicles[model.vehicle_index(vehicle.name)];
    const ParamInfo* const damping = damping_of(*v.tire);
    // a controller that imposes a twist heeds no torque
    if (!damping || vehicle.friction.find(kName) || (vehicle.motor && !vehicle.motor->torque_control) ||
        v.controller->imposes_twist() || v.controller->imposes_spins() || !(model.gravity > 0))
      continue;
    double mass = model.params[v.body_params + kChassisMass].nominal, turning = 0;
    for (const WheelModel& w : v.wheels) {
      mass += w.mass + w.inertia / (w.radius * w.radius);
      turning += 1 / (w.radius * w.radius);
    }
    const double seconds = mass / (damping->fallback * turning);
    if (seconds >= kLeast) continue;
    const std::string text =
        "has no <C_damping> in its <friction>: the default, " + rounded(damping->fallback, 3) +
        " N m s/rad, is too much for a vehicle of its size, which loses its speed in " + rounded(seconds, 2) +
        " s; C_damping " + rounded(mass / (kUsual * turning), 1) + " lets it roll for some seconds";
    if (reported.insert(text).second)
      model.warnings.push_back(vehicle.friction.where.text() + ": vehicle '" + v.name + "' " + text);
  }
}

}  // namespace mvsim
