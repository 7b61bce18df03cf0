// Rolling and slipping of a wheel.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "tire/tire_model.h"

namespace mvsim {

// Slip ratio and slip angle, for tires and for observations of them. Pure functions; SI units.

// Speed below which slip is measured against this speed and not the wheel's own, m/s: a standing wheel has
// slip 0, and slip does not flip between -1 and 1 while it starts.
inline constexpr double kLowSpeed = 0.1;

// (r w - v) / max(|r w|, |v|, low_speed), in [-1, 1]: 1 spins on the spot, -1 slides locked.
// `rolling_speed`: r w, m/s; `speed`: of the wheel centre along its rolling direction.
inline double slip_ratio(double rolling_speed, double speed, double low_speed = kLowSpeed) {
  const double reference = std::max({std::fabs(rolling_speed), std::fabs(speed), low_speed});
  return reference > 0 ? std::clamp((rolling_speed - speed) / reference, -1.0, 1.0) : 0.0;
}

// Angle between the velocity of the wheel centre and the rolling direction, rad in [-pi/2, pi/2]; positive
// where the wheel moves to its left, forward or backward. Both speeds in the frame of the steered wheel.
inline double slip_angle(double speed, double lateral_speed, double low_speed = kLowSpeed) {
  const double along = std::max(std::fabs(speed), low_speed);
  return along > 0 || lateral_speed != 0 ? math::atan2(lateral_speed, along) : 0.0;
}

// Rolling constraint of the tire models default, wardiagnemma and ellipse: forces are chosen so that
// a wheel within its limits neither slips nor slides in the step: Fy = -m vy / dt stops sideways motion, and
// Fx = (torque - I alpha) / R with alpha = (vx / R - w) / dt makes the wheel roll. Pure functions; SI units,
// wheel frame.

// Returns the value of the ground, or the tire's own where the ground has none (< 0).
inline double effective(double ground, double own) {
  return ground >= 0 ? ground : own;
}

// The sideways force that ends sideways motion within one step, N.
inline double lateral_hold(const TireInput& in, double limit) {
  const double mass = in.holding_mass > 0 ? in.holding_mass : in.mass;
  return std::clamp(-in.velocity.y * mass / in.dt - in.slope_force.y, -limit, limit);
}

// The spin acceleration that leads to pure rolling, rad/s2.
inline double rolling_acceleration(const TireInput& in) {
  return (in.velocity.x / in.radius - in.spin) / in.dt;
}

// The longitudinal force of pure rolling under that torque, unlimited, N.
inline double rolling_force(const TireInput& in, double torque) {
  return (torque - in.inertia * rolling_acceleration(in)) / in.radius;
}

// Losses that oppose the rotation: C_damping w, and C_rr N R tanh(100 w).
struct Losses {
  double damping = 0;     // N m s/rad, of bearings
  double resistance = 0;  // N m, of the ground, with the sign of the spin
};

// The torque of rolling resistance, N m.
inline double rolling_resistance(double c_rr, double load, double radius, double spin) {
  return c_rr > 0 && std::fabs(spin) > 1e-4 ? c_rr * load * radius * math::tanh(100 * spin) : 0;
}

inline Losses losses(const TireInput& in, double c_damping, double c_rr) {
  return {c_damping + in.motor_damping, rolling_resistance(c_rr, in.load, in.radius, in.spin)};
}

// The mass that moves with a wheel that rolls, as an inertia about its axle, kg m2.
inline double carried_inertia(const TireInput& in) {
  return (in.effective_mass > 0 ? in.effective_mass : in.mass) * in.radius * in.radius;
}

// Sets what a wheel of a row has of its parameters.
inline void set_wheel(WheelRow& row, size_t i, const TireInput& in) {
  row.holding_mass[i] = in.holding_mass > 0 ? in.holding_mass : in.mass;
  row.carried[i] = carried_inertia(in);
  row.load[i] = in.load;
  row.radius[i] = in.radius;
  row.inertia[i] = in.inertia;
  row.motor_damping[i] = in.motor_damping;
}

// Sets those of all wheels of a row.
inline void set_losses(WheelRow& row, double c_damping, double c_rr) {
  for (size_t i = 0; i < row.count; ++i) {
    row.damping[i] = c_damping + row.motor_damping[i];
    row.resistance[i] = rolling_resistance(c_rr, row.load[i], row.radius[i], row.spin[i]);
  }
}

// Torques of losses over one step, N m.
struct LossTorques {
  double damping = 0, resistance = 0;

  // Returns the part of the motor's torque that the losses leave.
  double rest_of(double torque) const { return torque - damping - resistance; }
};

inline bool may_overshoot(const TireInput& in, const Losses& l) {
  return l.resistance != 0 || l.damping * in.dt > in.inertia;
}

// Limits `resistance` to the torque that ends `momentum` (N m s). Returns 0 if their signs differ.
inline double stopping(double resistance, double momentum, double dt) {
  const double end = momentum / dt;
  return resistance > 0 ? std::clamp(end, 0.0, resistance) : std::clamp(end, resistance, 0.0);
}

// Whether resistance may stop the wheel. If the motor reverses it, the resistance of the spin before the step
// stays.
inline bool stops(const TireInput& in, const Losses& l) {
  return l.resistance != 0 && in.torque * l.resistance >= 0;
}

// Returns the loss torques of a wheel that rolls with the mass that it carries. They follow from the spin
// before the step, unless they would reverse the spin. Damping that would reverse it follows from the speed
// after the step; rolling resistance at most stops the wheel. `drag`: as of roll().
inline LossTorques rolling_losses(const TireInput& in, const Losses& l, double drag = 0) {
  LossTorques out{l.damping * in.spin, l.resistance};
  if (!may_overshoot(in, l)) return out;
  const double carried = carried_inertia(in);
  const double rolling = in.velocity.x / in.radius;  // rad/s
  // after the step, were there no losses, N m s
  const double momentum =
      carried * rolling + in.dt * (in.torque + in.radius * drag) - in.inertia * (rolling - in.spin);
  const double sum = carried + in.inertia;
  if (4 * l.damping * in.dt * carried > sum * sum)
    out.damping = l.damping * momentum / (carried + l.damping * in.dt);
  if (stops(in, l)) out.resistance = stopping(l.resistance, momentum - in.dt * out.damping, in.dt);
  return out;
}

// Returns the loss torques of a wheel that slips under `push` N m of motor, brake and ground. The rules are
// the same, for the inertia of the wheel alone.
inline LossTorques slipping_losses(const TireInput& in, const Losses& l, double push) {
  LossTorques out{l.damping * in.spin, l.resistance};
  const double momentum = in.inertia * in.spin + in.dt * push;
  if (l.damping * in.dt > in.inertia) out.damping = l.damping * momentum / (in.inertia + l.damping * in.dt);
  if (stops(in, l)) out.resistance = stopping(l.resistance, momentum - in.dt * out.damping, in.dt);
  return out;
}

struct RollingStep {
  double force = 0;  // N on the chassis, without the part that holds it on a slope
  double spin = 0;   // rad/s after the step
};

// One step under the input's torque and brake. `limit`: friction limit, N; `drag`: a force of the terrain on
// the chassis that the spin does not feel, N. Inlined always: GCC else decides by the group of the file, and
// a call takes 5 % of a step of Crowd.
[[gnu::always_inline]] inline RollingStep roll(const TireInput& in, const Losses& l, double limit,
                                               double drag = 0) {
  const bool overshoots = may_overshoot(in, l);
  const LossTorques lost =
      overshoots ? rolling_losses(in, l, drag) : LossTorques{l.damping * in.spin, l.resistance};
  double torque = lost.rest_of(in.torque), brake = 0;
  double force = rolling_force(in, torque);
  bool rolls = true;
  if (in.brake > 0) {
    // a locked wheel stops the mass that it carries; the brake holds it if that takes no more than it has
    const double stop = std::clamp(-in.velocity.x * in.mass / in.dt, -limit, limit);
    const double lock = torque + in.inertia * in.spin / in.dt - in.radius * stop;
    if (std::fabs(lock) <= in.brake) return {stop, 0};
    const double free = force;
    brake = std::copysign(in.brake, lock);
    torque -= brake;
    force = rolling_force(in, torque);
    // the brake stops the mass, it does not turn it round
    rolls = !((free - stop) * (force - stop) < 0);
    if (!rolls) force = stop;
  }
  const double wanted = drag != 0 ? force + drag : force;
  force = std::clamp(wanted, -limit, limit);
  if (drag != 0) drag = std::clamp(drag, -limit, limit);
  const double felt = in.radius * (force - drag);
  if (overshoots && !(rolls && force == wanted)) {
    torque = slipping_losses(in, l, in.torque - brake - felt).rest_of(in.torque);
    if (brake != 0) torque -= brake;
  }
  return {force, in.spin + (torque - felt) / in.inertia * in.dt};
}

// Adds the force that holds the vehicle on a slope, as far as friction is left. It does not act on the spin.
inline double hold_on_slope(const TireInput& in, double force, double limit) {
  const double rest = limit - std::fabs(force);
  return force - std::clamp(in.slope_force.x, -rest, rest);
}

}  // namespace mvsim
