// What the models with a rolling constraint share (default, wardiagnemma, ellipse): forces are chosen so that
// a wheel within its limits neither slips nor slides (physics 4.4). Pure functions; SI units, wheel frame.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "tire/tire_model.h"

namespace mvsim {

// What the ground says, or the tire's own value.
inline double effective(double ground, double own) {
  return ground >= 0 ? ground : own;
}

// Motor torque less what bearings and rolling resistance take, N m.
inline double shaft_torque(const TireInput& in, double c_damping, double c_rr) {
  double rolling_resistance = 0;
  if (c_rr > 0 && std::fabs(in.spin) > 1e-4)
    rolling_resistance = c_rr * in.load * in.radius * hyperbolic_tangent(100 * in.spin);
  return in.torque - c_damping * in.spin - rolling_resistance;
}

// The sideways force that ends sideways motion within one step, N.
inline double lateral_hold(const TireInput& in, double most) {
  return std::clamp(-in.velocity.y * in.mass / in.dt - in.slope_force.y, -most, most);
}

// The spin acceleration that leads to pure rolling, rad/s2.
inline double rolling_acceleration(const TireInput& in) {
  return (in.velocity.x / in.radius - in.spin) / in.dt;
}

// The longitudinal force of pure rolling under that torque, unlimited, N.
inline double rolling_force(const TireInput& in, double torque) {
  return (torque - in.inertia * rolling_acceleration(in)) / in.radius;
}

struct RollingStep {
  double force = 0;  // N on the chassis, without what holds it on a slope
  double spin = 0;   // rad/s after the step
};

// One step under `torque` at the shaft and the input's brake. `most`: friction limit, N; `drag`: a force of
// the terrain on the chassis that the spin does not feel, N.
inline RollingStep roll(const TireInput& in, double torque, double most, double drag = 0) {
  double force = rolling_force(in, torque);
  if (in.brake > 0) {
    // a locked wheel stops the mass that it carries; the brake holds it if that takes no more than it has
    const double stop = std::clamp(-in.velocity.x * in.mass / in.dt, -most, most);
    const double lock = torque + in.inertia * in.spin / in.dt - in.radius * stop;
    if (std::fabs(lock) <= in.brake) return {stop, 0};
    const double free = force;
    torque -= std::copysign(in.brake, lock);
    force = rolling_force(in, torque);
    // the brake stops the mass, it does not turn it round
    if ((free - stop) * (force - stop) < 0) force = stop;
  }
  if (drag != 0) {
    force = std::clamp(force + drag, -most, most);
    drag = std::clamp(drag, -most, most);
  } else {
    force = std::clamp(force, -most, most);
  }
  return {force, in.spin + (torque - in.radius * (force - drag)) / in.inertia * in.dt};
}

// What friction is left holds the vehicle on a slope; it does not act on the spin.
inline double hold_on_slope(const TireInput& in, double force, double most) {
  const double rest = most - std::fabs(force);
  return force - std::clamp(in.slope_force.x, -rest, rest);
}

}  // namespace mvsim
