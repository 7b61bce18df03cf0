// PIDs on speeds, as controllers that track a speed share them: parameters, memory, slope feedforward and the
// rule for stopping.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/params.h"
#include "vehicle/wheel.h"

namespace mvsim {

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
  double climbing_torque = 0;        // N m of each output that the slope takes, positive uphill
};

// Torques, one a speed; N m, positive drives forward. `p`: values by SpeedPidParam.
void speed_pid(const double* p, const SpeedPidInput& in, double* state, double* torque);

// Intermediate values of speed_pid for logs, from the `state` after its call.
double filtered_setpoint(const double* p, const double* state, double setpoint);  // m/s
double slope_feedforward(const double* p, double climbing_torque);                // N m, positive uphill

double mean_radius(std::span<const WheelModel> wheels);  // m

}  // namespace mvsim
