// Controller `twist_wheels`: driven wheels turn exactly as the commanded twist asks, whatever it takes. Tires
// move the body, which slips where they do. For logs that hold the speeds of wheels and no command.
#include "vehicle/controllers.h"

namespace mvsim {
namespace {

class DifferentialTwistWheels final : public Controller {
 public:
  std::string_view name() const override { return "twist_wheels"; }
  std::span<const ParamInfo> params() const override { return {}; }
  std::span<const CommandInfo> command() const override { return kTwistCommand; }
  bool accepts_twist() const override { return true; }
  bool imposes_spins() const override { return true; }
  size_t state_size() const override { return 0; }
  void initial_command(const double*, double* command) const override { command[0] = command[1] = 0; }

  void step(const double*, const ControllerInput& in, const double* command, double*,
            double* actuation) const override {
    const double lever = 0.5 * (in.wheels[0].position.y - in.wheels[1].position.y);
    actuation[0] = (command[0] - lever * command[1]) / in.wheels[0].radius;
    actuation[1] = (command[0] + lever * command[1]) / in.wheels[1].radius;
  }
};

}  // namespace

const Controller& differential_twist_wheels() {
  static const DifferentialTwistWheels kController;
  return kController;
}

}  // namespace mvsim
