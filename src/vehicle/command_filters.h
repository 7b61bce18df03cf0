// Filters of commands: limits and delay.
#pragma once

#include <cstddef>
#include <span>

namespace mvsim {

// Limits of a commanded speed, its acceleration and its jerk, with the rules of ros2_control's RateLimiter
// (control_toolbox), which diff_drive_controller and the steering controllers use: jerk first, then
// acceleration, then speed. Pure; SI units.

// In the order of kLinearLimitTags and kAngularLimitTags. Signs are those of ros2_control.
enum LimitParam {
  kMaxVelocity,
  kMinVelocity,             // usually <= 0
  kMaxAcceleration,         // from rest and forward
  kMaxDeceleration,         // <= 0, while it moves forward
  kMaxAccelerationReverse,  // <= 0, from rest and backward
  kMaxDecelerationReverse,  // >= 0, while it moves backward
  kMaxJerk,
  kMinJerk,
  kLimitParamCount
};

// A limited command: of the last step and of the step before.
struct LimitedCommand {
  double last = 0, before_last = 0;
};

// Returns what becomes of the command `wanted` in a step of `dt` s. `p`: values by LimitParam.
double limited_command(const double* p, double wanted, const LimitedCommand& made, double dt);

// A line of commands on their way to a controller. The command that arrives in a step is the mean of the
// commands sent during the interval of the same length, one delay earlier. So the motion follows a delay of
// any length, not of whole steps alone. The line consists of numbers, so that snapshots can hold it.

inline constexpr double kLongestCommandDelay = 1;  // s
inline constexpr double kMostStepsOfDelay = 1000;  // that a line remembers

// Returns the longest delay, s, at steps of that length.
double longest_delay(double timestep);

// Steps that a line remembers for delays up to longest_delay().
size_t delay_line_places(double timestep);

// Numbers of a line of so many steps.
size_t delay_line_size(size_t places, size_t values);

// The part of a step that no command of a line fills: the first one has not arrived.
struct MissingCommand {
  double share = 0;                 // of the step; 0: nothing
  const double* arrived = nullptr;  // the command of the rest of the step; null: there is no rest
};

// Sends `command` for a step of `dt` s and writes the command that arrives in that step. Both have
// `arriving.size()` values; `line` has delay_line_size() numbers, 0 at first.
MissingCommand pass_delay_line(double* line, size_t places, double delay, double dt, const double* command,
                               std::span<double> arriving);

// Fills what is missing by the command before the first one.
void fill_missing(const MissingCommand& missing, const double* initial, std::span<double> arriving);

}  // namespace mvsim
