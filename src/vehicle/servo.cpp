#include "vehicle/servo.h"

#include <algorithm>

#include "base/math.h"

namespace mvsim {

double servo_step(const double* p, double angle, double target, double dt) {
  const double lag = p[kServoTimeConstant];
  const double change = lag > 0 ? (1 - math::exp(-dt / lag)) * (target - angle) : target - angle;
  const double most = p[kServoRate] * dt;
  // all of the way is the target itself
  return change == target - angle && change >= -most && change <= most
             ? target
             : angle + std::clamp(change, -most, most);
}

}  // namespace mvsim
