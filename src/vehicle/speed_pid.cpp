#include "vehicle/speed_pid.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"

namespace mvsim {

double pid_step(const PidGains& gains, PidState& state, double e, double dt, double feedforward) {
  if (dt <= 0) dt = 1e-3;
  state.integral += gains.ki * e * dt;
  if (gains.integral_max >= 0) {
    const double max = std::fabs(gains.ki) * gains.integral_max;
    state.integral = std::clamp(state.integral, -max, max);
  }
  double derivative = 0;
  if (gains.derivative_filter > 0) {
    state.derivative += dt * gains.derivative_filter * (gains.kd * e - state.derivative);
    derivative = state.derivative;
  } else if (state.has_last != 0) {
    derivative = gains.kd * (e - state.last_error) / dt;
  }
  state.last_error = e;
  state.has_last = 1;

  const bool limited = gains.max_output > 0;
  const auto saturate = [&](double u) {
    return limited ? std::clamp(u, -gains.max_output, gains.max_output) : u;
  };
  const double u = gains.kp * e + state.integral + derivative + feedforward;
  const double saturated = saturate(u);
  if (!gains.anti_windup || gains.kp <= 1e-12 || !limited) return saturated;
  // back-calculation: the integrator is reduced by the part that the actuator could not apply
  state.integral += gains.ki / gains.kp * (saturated - u) * dt;
  return saturate(gains.kp * e + state.integral + derivative + feedforward);
}

double reference_filter(ReferenceFilterState& state, double setpoint, double tau, int order, double dt) {
  const double a = math::exp(-dt / std::max(1e-6, tau));
  state.first = a * state.first + (1 - a) * setpoint;
  if (order < 2) return state.first;
  state.second = a * state.second + (1 - a) * state.first;
  return state.second;
}

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

namespace {

// Memory of one speed, numbers that the Simulation keeps.
enum { kIntegral, kDerivative, kLastError, kHasLast, kFirst, kSecond, kMemorySize };
static_assert(kMemorySize == kSpeedPidState);

double filtered(const double* p, double* memory, double setpoint, double dt) {
  ReferenceFilterState filter{memory[kFirst], memory[kSecond]};
  const int order = static_cast<int>(p[kFilterOrder]);
  const double out = reference_filter(filter, setpoint, p[kFilterTau], order, dt);
  memory[kFirst] = filter.first;
  memory[kSecond] = filter.second;
  return out;
}

bool all_below(std::span<const double> values, double max) {
  for (const double v : values)
    if (!(std::fabs(v) < max)) return false;
  return true;
}

}  // namespace

void speed_pid(const double* p, const SpeedPidInput& in, double* state, double* torque) {
  const PidGains gains{.kp = p[kKp],
                       .ki = p[kKi],
                       .kd = p[kKd],
                       .derivative_filter = p[kN],
                       .max_output = p[kMaxTorque],
                       .integral_max = p[kIMax],
                       .anti_windup = p[kAntiWindup] != 0};
  const double feedforward = slope_feedforward(p, in.torque_against_slope);
  const size_t n = in.setpoint.size();
  double smooth[kMaxSpeeds];
  if (p[kFilter] != 0)
    for (size_t i = 0; i < n; ++i) smooth[i] = filtered(p, state + i * kSpeedPidState, in.setpoint[i], in.dt);
  const double* const setpoint = p[kFilter] != 0 ? smooth : in.setpoint.data();
  const bool wants_stop = all_below({setpoint, n}, p[kZeroThreshold]);
  if (wants_stop && all_below(in.actual, p[kStopThreshold])) {
    for (size_t i = 0; i < n; ++i) {
      torque[i] = kNoTorque;
      std::fill_n(state + i * kSpeedPidState, kFirst, 0.0);  // all but the filter
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    double* const memory = state + i * kSpeedPidState;
    PidState pid{memory[kIntegral], memory[kDerivative], memory[kLastError], memory[kHasLast]};
    torque[i] = pid_step(gains, pid, setpoint[i] - in.actual[i], in.dt, feedforward);
    // stopping may brake but never reverse
    if (wants_stop)
      torque[i] = in.actual[i] > 0 ? std::min(kNoTorque, torque[i]) : std::max(kNoTorque, torque[i]);
    memory[kIntegral] = pid.integral;
    memory[kDerivative] = pid.derivative;
    memory[kLastError] = pid.last_error;
    memory[kHasLast] = pid.has_last;
  }
}

double filtered_setpoint(const double* p, const double* state, double setpoint) {
  if (p[kFilter] == 0) return setpoint;
  return state[p[kFilterOrder] < 2 ? kFirst : kSecond];
}

double slope_feedforward(const double* p, double torque_against_slope) {
  return p[kFeedforward] != 0 ? p[kFeedforwardGain] * torque_against_slope : 0;
}

double mean_radius(std::span<const WheelModel> wheels) {
  double sum = 0;
  for (const WheelModel& w : wheels) sum += w.radius;
  return sum / static_cast<double>(wheels.size());
}

}  // namespace mvsim
