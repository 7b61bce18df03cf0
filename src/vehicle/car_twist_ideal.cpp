// Controller `twist_ideal` of `ackermann`: the body moves exactly as commanded, also where no steering could
// lead it; the wheels turn along without pushing.
#include <algorithm>
#include <cmath>

#include "vehicle/car.h"
#include "vehicle/controllers.h"
#include "vehicle/twist_ideal.h"

namespace mvsim {
namespace {

constexpr double kStanding = 1e-3;  // m/s

class AckermannTwistIdeal final : public TwistIdeal {
 public:
  void step(const double*, const ControllerInput& in, const double* command, double*,
            double* actuation) const override {
    const double vx = command[0], omega = command[1], length = wheelbase(in.wheels);
    const double turning = std::min(std::fabs(omega * length), in.dynamics_params[kMaxSteer]);
    actuation[kCarSteer] =
        std::fabs(vx) > kStanding ? steer_of_twist(length, vx, omega) : std::copysign(turning, omega);
    actuation[kCarBrake] = 0;
    actuation[kCarTorque] = actuation[kCarTorqueRight] = kNoTorque;
  }
};

}  // namespace

const Controller& ackermann_twist_ideal() {
  static const AckermannTwistIdeal kController;
  return kController;
}

}  // namespace mvsim
