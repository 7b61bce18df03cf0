// Controller `raw` of the differential classes: holds the torques it is given, which have the sign of the
// world language, negative drives forward.
#include "vehicle/controllers.h"

namespace mvsim {
namespace {

constexpr CommandInfo kCommand[] = {{"left_torque", "N m"}, {"right_torque", "N m"}};

class DifferentialRaw final : public Controller {
 public:
  std::string_view name() const override { return "raw"; }
  std::span<const ParamInfo> params() const override { return {}; }
  std::span<const CommandInfo> command() const override { return kCommand; }
  bool accepts_twist() const override { return false; }
  size_t state_size() const override { return 0; }
  void initial_command(const double*, double* command) const override { command[0] = command[1] = 0; }
  void step(const double*, const ControllerInput&, const double* command, double*,
            double* actuation) const override {
    actuation[0] = -command[0];
    actuation[1] = -command[1];
  }
};

}  // namespace

const Controller& differential_raw() {
  static const DifferentialRaw kController;
  return kController;
}

}  // namespace mvsim
