#include "vehicle/command_limiter.h"

#include <algorithm>

namespace mvsim {
namespace {

// Limits may cross when they are randomised: then the lower one counts.
double within(double value, double low, double high) {
  return std::min(std::max(value, low), high);
}

// Only an acceleration that grows is limited in its jerk: one that ended slowly would pass the speed that is
// asked for.
double with_jerk(const double* p, double wanted, const LimitedCommand& made, double dt) {
  const double change = wanted - made.last, change_before = made.last - made.before_last;
  if (!((change - change_before) * change > 0)) return wanted;
  const double square = dt * dt;
  return made.last + change_before +
         within(change - change_before, p[kMinJerk] * square, p[kMaxJerk] * square);
}

double with_acceleration(const double* p, double wanted, double last, double dt) {
  const double down = last > 0 ? p[kMaxDeceleration] : p[kMaxAccelerationReverse];
  const double up = last < 0 ? p[kMaxDecelerationReverse] : p[kMaxAcceleration];
  return last + within(wanted - last, down * dt, up * dt);
}

}  // namespace

double limited_command(const double* p, double wanted, const LimitedCommand& made, double dt) {
  const double smooth = with_jerk(p, wanted, made, dt);
  return within(with_acceleration(p, smooth, made.last, dt), p[kMinVelocity], p[kMaxVelocity]);
}

}  // namespace mvsim
