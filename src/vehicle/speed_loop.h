// Whether a PID on the speed of wheels settles: the loop of controller, wheels and mass, in which a rolling
// wheel tells the vehicle's speed one step late. Pure; SI units.
#pragma once

#include <optional>

namespace mvsim {

struct SpeedGains {
  double kp = 0, ki = 0;
  double max_torque = 0;  // N m; 0: unlimited
};

// What 1 N m of the controller's output does.
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

// By KP alone: an integral as slow as those of settling_gains() changes little.
std::optional<SpeedFault> fault_of(const SpeedLoop& loop, const SpeedGains& gains);

// Gains that settle at this step and at all from 5 to 20 ms, with as much torque as the tires take but no
// more than `gains` allows.
SpeedGains settling_gains(const SpeedLoop& loop, const SpeedGains& gains);

}  // namespace mvsim
