// Controller `twist_ideal`: the body moves exactly as commanded; wheels turn along without pushing.
#include "vehicle/controllers.h"
#include "vehicle/twist_ideal.h"

namespace mvsim {
namespace {

class DifferentialTwistIdeal final : public TwistIdeal {
 public:
  void step(const double*, const ControllerInput&, const double*, double*, double* actuation) const override {
    actuation[0] = actuation[1] = kNoTorque;
  }
};

}  // namespace

const Controller& differential_twist_ideal() {
  static const DifferentialTwistIdeal kController;
  return kController;
}

}  // namespace mvsim
