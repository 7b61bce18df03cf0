// Limits of a commanded speed, its acceleration and its jerk, with the rules of ros2_control's RateLimiter
// (control_toolbox), which diff_drive_controller and the steering controllers use: jerk first, then
// acceleration, then speed. Pure; SI units.
#pragma once

#include <cstddef>

namespace mvsim {

// In the order of linear_limit_tags() and angular_limit_tags(). Signs are those of ros2_control.
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

}  // namespace mvsim
