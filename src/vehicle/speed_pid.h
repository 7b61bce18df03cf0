// Control of speeds: the PID block, the loop of a wheel, the controllers of a twist.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/params.h"
#include "vehicle/wheel.h"

namespace mvsim {

// The PID block with reference filter of the twist controllers. The state consists of numbers, so that
// snapshots can hold it.

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

// Stability of a PID on the speed of wheels: the loop of controller, wheels and mass, in which a rolling
// wheel has the vehicle's speed one step late. Pure; SI units.

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

// PIDs on speeds, as controllers that track a speed share them: parameters, memory, slope feedforward and the
// rule for stopping.

enum SpeedPidParam {
  kKp,
  kKi,
  kKd,
  kIMax,
  kN,
  kMaxTorque,
  kFirstCommand,   // "V"
  kSecondCommand,  // "W" or "STEER_ANG"
  kAntiWindup,
  kFeedforward,
  kFeedforwardGain,
  kFilter,
  kFilterTau,
  kFilterOrder,
  kZeroThreshold,
  kStopThreshold,
  kSpeedPidParamCount
};

// `second`: name of the command beside the speed, in degrees (or degrees a second) in files.
constexpr std::array<ParamInfo, kSpeedPidParamCount> speed_pid_params(double kp, double max_torque,
                                                                      std::string_view second) {
  constexpr double kNoLimit = -1;
  return {{
      {.name = "KP", .fallback = kp},
      {.name = "KI", .fallback = 0},
      {.name = "KD", .fallback = 0},
      {.name = "I_MAX", .fallback = kNoLimit},  // bound of the integral of the error
      {.name = "N", .fallback = 0, .min = 0, .unit = "1/s"},
      {.name = "max_torque", .fallback = max_torque, .min = 0, .unit = "N m"},
      {.name = "V", .fallback = 0, .unit = "m/s"},  // before the first command
      {.name = second, .fallback = 0, .type = ParamType::kDegrees},
      {.name = "enable_antiwindup", .fallback = 0, .type = ParamType::kBool},
      {.name = "enable_feedforward", .fallback = 0, .type = ParamType::kBool},
      {.name = "feedforward_gain", .fallback = 1},
      {.name = "enable_reference_filter", .fallback = 0, .type = ParamType::kBool},
      {.name = "reference_filter_tau", .fallback = 0.1, .min = 0, .unit = "s"},
      {.name = "reference_filter_order", .fallback = 1, .min = 1, .max = 2, .type = ParamType::kInt},
      {.name = "zero_threshold", .fallback = 0.001, .min = 0, .unit = "m/s"},
      {.name = "stop_threshold", .fallback = 0.05, .min = 0, .unit = "m/s"},
  }};
}

inline constexpr size_t kMaxSpeeds = 2;
inline constexpr size_t kSpeedPidState = 6;  // numbers in a controller's state for each speed

struct SpeedPidInput {
  double dt = 0;                     // s
  std::span<const double> setpoint;  // m/s, at most kMaxSpeeds
  std::span<const double> actual;    // m/s
  double torque_against_slope = 0;   // N m of each output that the slope takes, positive uphill
};

// Torques, one a speed; N m, positive drives forward. `p`: values by SpeedPidParam.
void speed_pid(const double* p, const SpeedPidInput& in, double* state, double* torque);

// Intermediate values of speed_pid for logs, from the `state` after its call.
double filtered_setpoint(const double* p, const double* state, double setpoint);  // m/s
double slope_feedforward(const double* p, double torque_against_slope);           // N m, positive uphill

double mean_radius(std::span<const WheelModel> wheels);  // m

}  // namespace mvsim
