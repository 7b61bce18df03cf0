// Slip ratio and slip angle, for tires and for observations of them. Pure functions; SI units.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/math.h"

namespace mvsim {

// Speed below which slip is measured against this speed and not the wheel's own, m/s: a standing wheel has
// slip 0, and slip does not flip between -1 and 1 while it starts.
inline constexpr double kLowSpeed = 0.1;

// (r w - v) / max(|r w|, |v|, low_speed), in [-1, 1]: 1 spins on the spot, -1 slides locked.
// `rolling_speed`: r w, m/s; `speed`: of the wheel centre along its rolling direction.
inline double slip_ratio(double rolling_speed, double speed, double low_speed = kLowSpeed) {
  const double reference = std::max({std::fabs(rolling_speed), std::fabs(speed), low_speed});
  return reference > 0 ? std::clamp((rolling_speed - speed) / reference, -1.0, 1.0) : 0.0;
}

// Angle between the velocity of the wheel centre and the rolling direction, rad in [-pi/2, pi/2]; positive
// where the wheel moves to its left, forward or backward. Both speeds in the frame of the steered wheel.
inline double slip_angle(double speed, double lateral_speed, double low_speed = kLowSpeed) {
  const double along = std::max(std::fabs(speed), low_speed);
  return along > 0 || lateral_speed != 0 ? math::atan2(lateral_speed, along) : 0.0;
}

}  // namespace mvsim
