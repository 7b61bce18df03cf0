// What the controllers `twist_ideal` share: the body moves exactly as commanded, the wheels turn along
// without pushing.
#pragma once

#include "vehicle/controller.h"

namespace mvsim {

class TwistIdeal : public Controller {
 public:
  std::string_view name() const final { return "twist_ideal"; }
  std::span<const ParamInfo> params() const final { return {}; }
  std::span<const CommandInfo> command() const final { return kTwistCommand; }
  bool accepts_twist() const final { return true; }
  bool imposes_twist() const final { return true; }
  size_t state_size() const final { return 0; }
  void initial_command(const double*, double* command) const final { command[0] = command[1] = 0; }
};

}  // namespace mvsim
