// Friction model `default`: Coulomb limits on both axes separately, chosen so that an unsaturated wheel
// neither slips nor slides (physics 4.4).
#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "tire/tires.h"

namespace mvsim {
namespace {

enum { kMu, kCDamping, kCRr };

constexpr ParamInfo kParams[] = {
    {.name = "mu", .fallback = 0.8, .min = 0},
    {.name = "C_damping", .fallback = 0.01, .min = 0},  // N m s/rad
    {.name = "C_rr", .fallback = 0, .min = 0},
};

class DefaultTire final : public TireModel {
 public:
  std::string_view name() const override { return "default"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    const double most = p[kMu] * in.load;

    // lateral: stop the sideways motion within one step
    const double lateral = std::clamp(-in.velocity.y * in.mass / in.dt - in.slope_force.y, -most, most);

    // longitudinal: the spin acceleration that leads to pure rolling
    const double rolling_acceleration = (in.velocity.x / in.radius - in.spin) / in.dt;
    double rolling_resistance = 0;
    if (p[kCRr] > 0 && std::fabs(in.spin) > 1e-4)
      rolling_resistance = p[kCRr] * in.load * in.radius * hyperbolic_tangent(100 * in.spin);
    const double torque = in.torque - p[kCDamping] * in.spin - rolling_resistance;
    double longitudinal = std::clamp((torque - in.inertia * rolling_acceleration) / in.radius, -most, most);
    const double spin_acceleration = (torque - in.radius * longitudinal) / in.inertia;

    // what friction is left holds the vehicle on a slope; it does not act on the spin
    const double rest = most - std::fabs(longitudinal);
    longitudinal -= std::clamp(in.slope_force.x, -rest, rest);
    return {{longitudinal, lateral}, in.spin + spin_acceleration * in.dt};
  }
};

}  // namespace

const TireModel& default_tire() {
  static const DefaultTire kTire;
  return kTire;
}

}  // namespace mvsim
