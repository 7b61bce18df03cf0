// A steering servo: a first-order lag whose rate is limited. Pure; rad, s.
#pragma once

namespace mvsim {

// In the order of servo_tags().
enum ServoParam {
  kServoRate,          // rad/s
  kServoTimeConstant,  // s; 0: no lag
  kServoParamCount
};

// Returns the angle after a step of `dt` s towards `target`. `p`: values by ServoParam.
double servo_step(const double* p, double angle, double target, double dt);

}  // namespace mvsim
