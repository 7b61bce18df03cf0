// The PID block with reference filter of the twist controllers. The state consists of numbers, so that
// snapshots can hold it.
#pragma once

#include "base/params.h"

namespace mvsim {

struct PidGains {
  double kp = 0, ki = 0, kd = 0;
  double derivative_filter = 0;  // N, 1/s; 0: backward difference
  double max_output = 0;         // 0: unlimited
  double integral_max = -1;      // bound of the integral of the error; negative: none
  bool anti_windup = false;
};

struct PidState {
  double integral = 0, derivative = 0, last_error = 0, has_last = 0;
};

// One step with error `e`; `feedforward` is added before saturation.
double pid_step(const PidGains& gains, PidState& state, double e, double dt, double feedforward);

struct ReferenceFilterState {
  double first = 0, second = 0;
};

// First or second order low-pass of a setpoint.
double reference_filter(ReferenceFilterState& state, double setpoint, double tau, int order, double dt);

}  // namespace mvsim
