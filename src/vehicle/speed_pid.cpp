#include "vehicle/speed_pid.h"

#include <algorithm>
#include <cmath>

#include "vehicle/pid.h"
#include "vehicle/wheel.h"

namespace mvsim {
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
  return std::all_of(values.begin(), values.end(), [&](double v) { return std::fabs(v) < max; });
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
  const double feedforward = slope_feedforward(p, in.climbing_torque);
  const size_t n = in.setpoint.size();
  double setpoint[kMaxSpeeds];
  for (size_t i = 0; i < n; ++i) {
    setpoint[i] = in.setpoint[i];
    if (p[kFilter] != 0) setpoint[i] = filtered(p, state + i * kSpeedPidState, setpoint[i], in.dt);
  }
  const bool wants_stop = all_below({setpoint, n}, p[kZeroThreshold]);
  const bool stopped = wants_stop && all_below(in.actual, p[kStopThreshold]);
  for (size_t i = 0; i < n; ++i) {
    double* const memory = state + i * kSpeedPidState;
    PidState pid;
    if (stopped) {
      torque[i] = kNoTorque;
    } else {
      pid = {memory[kIntegral], memory[kDerivative], memory[kLastError], memory[kHasLast]};
      torque[i] = pid_step(gains, pid, setpoint[i] - in.actual[i], in.dt, feedforward);
      // stopping may brake but never reverse
      if (wants_stop)
        torque[i] = in.actual[i] > 0 ? std::min(kNoTorque, torque[i]) : std::max(kNoTorque, torque[i]);
    }
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

double slope_feedforward(const double* p, double climbing_torque) {
  return p[kFeedforward] != 0 ? p[kFeedforwardGain] * climbing_torque : 0;
}

double mean_radius(std::span<const WheelModel> wheels) {
  double sum = 0;
  for (const WheelModel& w : wheels) sum += w.radius;
  return sum / static_cast<double>(wheels.size());
}

}  // namespace mvsim
