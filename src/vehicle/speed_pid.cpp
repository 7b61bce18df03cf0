#include "vehicle/speed_pid.h"

#include <algorithm>
#include <cmath>

#include "vehicle/pid.h"
#include "vehicle/wheel.h"

namespace mvsim {
namespace {

// Memory of one speed; the Simulation keeps it as an array of numbers.
struct Memory {
  PidState pid;
  ReferenceFilterState filter;
};
static_assert(sizeof(Memory) == kSpeedPidState * sizeof(double));

Memory load(const double* s) {
  return {{s[0], s[1], s[2], s[3]}, {s[4], s[5]}};
}

void store(const Memory& memory, double* s) {
  s[0] = memory.pid.integral;
  s[1] = memory.pid.derivative;
  s[2] = memory.pid.last_error;
  s[3] = memory.pid.has_last;
  s[4] = memory.filter.first;
  s[5] = memory.filter.second;
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
  Memory memory[kMaxSpeeds];
  double setpoint[kMaxSpeeds];
  for (size_t i = 0; i < n; ++i) {
    memory[i] = load(state + i * kSpeedPidState);
    setpoint[i] = in.setpoint[i];
    if (p[kFilter] != 0)
      setpoint[i] = reference_filter(memory[i].filter, setpoint[i], p[kFilterTau],
                                     static_cast<int>(p[kFilterOrder]), in.dt);
  }
  const bool wants_stop = all_below({setpoint, n}, p[kZeroThreshold]);
  const bool stopped = wants_stop && all_below(in.actual, p[kStopThreshold]);
  for (size_t i = 0; i < n; ++i) {
    if (stopped) {
      torque[i] = kNoTorque;
      memory[i].pid = {};
    } else {
      torque[i] = pid_step(gains, memory[i].pid, setpoint[i] - in.actual[i], in.dt, feedforward);
      // stopping may brake but never reverse
      if (wants_stop)
        torque[i] = in.actual[i] > 0 ? std::min(kNoTorque, torque[i]) : std::max(kNoTorque, torque[i]);
    }
    store(memory[i], state + i * kSpeedPidState);
  }
}

double filtered_setpoint(const double* p, const double* state, double setpoint) {
  if (p[kFilter] == 0) return setpoint;
  const Memory memory = load(state);
  return p[kFilterOrder] < 2 ? memory.filter.first : memory.filter.second;
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
