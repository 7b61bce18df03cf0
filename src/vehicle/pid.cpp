#include "vehicle/pid.h"

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

}  // namespace mvsim
