// Controller `twist_ideal`: the body moves exactly as commanded; wheels turn along without pushing.
#include "vehicle/controllers.h"

namespace mvsim {
namespace {

constexpr CommandInfo kCommand[] = {{"vx", "m/s"}, {"omega", "rad/s"}};

class DifferentialTwistIdeal final : public Controller {
 public:
  std::string_view name() const override { return "twist_ideal"; }
  std::span<const ParamInfo> params() const override { return {}; }
  std::span<const CommandInfo> command() const override { return kCommand; }
  bool accepts_twist() const override { return true; }
  bool imposes_twist() const override { return true; }
  size_t state_size() const override { return 0; }
  void initial_command(const double*, double* command) const override { command[0] = command[1] = 0; }
  void step(const double*, const ControllerInput&, const double*, double*, double* actuation) const override {
    actuation[0] = actuation[1] = 0;
  }
};

}  // namespace

const Controller& differential_twist_ideal() {
  static const DifferentialTwistIdeal kController;
  return kController;
}

}  // namespace mvsim
