#include "vehicle/speed_loop.h"

#include <algorithm>

namespace mvsim {
namespace {

// The loop has the speed u of the wheels and the speed v of the vehicle: u' = v, v' = v + k (setpoint - u).
// Its roots are those of x^2 - x + k. It oscillates above k = 1/4 and diverges above 1. The inertia of the
// wheels changes this slightly.
constexpr double kMaxRolling = 0.7, kGoodRolling = 0.3;
// A wheel that slips has u' = u + k (setpoint - u) - friction. It oscillates above k = 1 and diverges
// above 2.
constexpr double kMaxSlipping = 1.5, kGoodSlipping = 0.5;
constexpr double kLargeError = 1;      // m/s, of a command that a vehicle at rest gets
constexpr double kLongestStep = 0.02;  // s, that gains should serve
// The integral takes up all grip within 0.7 s of an error of 0.1 m/s, but follows KP slowly enough.
constexpr double kIntegralOfGrip = 14, kIntegralOfKp = 0.4;

bool can_slip(const SpeedLoop& loop, const SpeedGains& gains) {
  const double asked =
      gains.max_torque > 0 ? std::min(gains.max_torque, gains.kp * kLargeError) : gains.kp * kLargeError;
  return loop.slips_ever || asked > 1.1 * loop.grip;
}

}  // namespace

std::optional<SpeedFault> fault_of(const SpeedLoop& loop, const SpeedGains& gains) {
  const double gain = gains.kp * loop.dt;
  if (gain * std::max(loop.driving, loop.turning) > kMaxRolling) return SpeedFault::kOvershoots;
  if (can_slip(loop, gains) && gain * loop.spinning > kMaxSlipping) return SpeedFault::kBreaksAway;
  return std::nullopt;
}

SpeedGains settling_gains(const SpeedLoop& loop, const SpeedGains& gains) {
  const double dt = std::max(loop.dt, kLongestStep);
  SpeedGains out;
  out.max_torque = 1.02 * loop.grip;
  if (gains.max_torque > 0) out.max_torque = std::min(out.max_torque, gains.max_torque);
  out.kp = std::min(gains.kp, kGoodRolling / (dt * std::max(loop.driving, loop.turning)));
  if (loop.slips_ever) out.kp = std::min(out.kp, kGoodSlipping / (dt * loop.spinning));
  out.ki = std::min(kIntegralOfGrip * out.max_torque, kIntegralOfKp * out.kp / dt);
  return out;
}

}  // namespace mvsim
