// Stability of a PID on the speed of wheels: the loop of controller, wheels and mass, in which a rolling
// wheel has the vehicle's speed one step late. Pure; SI units.
#pragma once

#include <optional>

namespace mvsim {

struct SpeedGains {
  double kp = 0, ki = 0;
  double max_torque = 0;  // N m; 0: unlimited
};

// Effect of 1 N m of the controller's output.
struct SpeedLoop {
  double dt = 0;            // s
  double driving = 0;       // m/s2 of the vehicle, its wheels rolling
  double turning = 0;       // the same at the wheels of a vehicle that turns in place; 0: it steers
  double spinning = 0;      // m/s2 at the rim of a driven wheel that slips
  double grip = 0;          // N m of output from which on a driven wheel slips
  bool slips_ever = false;  // no force without slip, and no wheel that keeps rolling
};

enum class SpeedFault {
  kOvershoots,  // while wheels roll, each step answers more than the speed that is missing
  kBreaksAway   // wheels slip, and each step throws them farther beyond the speed that is asked for
};

// Returns the fault of the loop with KP alone. An integral as slow as those of settling_gains() changes
// little.
std::optional<SpeedFault> fault_of(const SpeedLoop& loop, const SpeedGains& gains);

// Returns gains that settle at this step and at all steps from 5 to 20 ms. Their torque limit is that of the
// tires, but at most that of `gains`.
SpeedGains settling_gains(const SpeedLoop& loop, const SpeedGains& gains);

}  // namespace mvsim
