// Controllers `twist_ideal`: the body moves exactly as commanded, and the wheels turn along without pushing.
// A car moves so even where no steering could lead it.

#include <algorithm>
#include <cmath>

#include "base/registered.h"
#include "vehicle/car.h"
#include "vehicle/controller.h"

namespace mvsim {
namespace {

class TwistIdeal : public Controller {
 public:
  TwistIdeal() : Controller(Imposes::kTwist) {}
  std::string_view name() const final { return "twist_ideal"; }
  std::span<const CommandInfo> command() const final { return kTwistCommand; }
  bool accepts_twist() const final { return true; }
};

constexpr double kStanding = 1e-3;  // m/s

}  // namespace

class DifferentialTwistIdeal final : public TwistIdeal {
 public:
  void step(const double*, const ControllerInput&, const double*, double*, double* actuation) const override {
    actuation[0] = actuation[1] = kNoTorque;
  }
};

template const Controller& registered<Controller, DifferentialTwistIdeal>();

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

template const Controller& registered<Controller, AckermannTwistIdeal>();

// Controller `twist_wheels`: driven wheels turn exactly as the commanded twist asks, whatever it takes. Tires
// move the body, which slips where they do. For logs that hold the speeds of wheels and no command.

class DifferentialTwistWheels final : public Controller {
 public:
  DifferentialTwistWheels() : Controller(Imposes::kSpins) {}
  std::string_view name() const override { return "twist_wheels"; }
  std::span<const CommandInfo> command() const override { return kTwistCommand; }
  bool accepts_twist() const override { return true; }

  void step(const double*, const ControllerInput& in, const double* command, double*,
            double* actuation) const override {
    const double lever = 0.5 * (in.wheels[0].position.y - in.wheels[1].position.y);
    actuation[0] = (command[0] - lever * command[1]) / in.wheels[0].radius;
    actuation[1] = (command[0] + lever * command[1]) / in.wheels[1].radius;
  }
};

template const Controller& registered<Controller, DifferentialTwistWheels>();

}  // namespace mvsim
