// Controller `throttle_brake` of cars: pedals and a steering wheel.
#include <algorithm>

#include "vehicle/car.h"
#include "vehicle/controller.h"

namespace mvsim {
namespace {

enum { kMaxTorque, kMaxBrakeTorque, kParamCount };
using Params = std::array<ParamInfo, kParamCount>;

// The throttle reaches from -1 (full reverse) to 1, the brake from 0 to 1; beyond they count as the end.
constexpr CommandInfo kCommand[] = {{"throttle", ""}, {"brake", ""}, {"steer", "rad"}};

class CarThrottleBrake final : public Controller {
 public:
  explicit CarThrottleBrake(double max_torque)
      : params_{{{.name = "max_torque",
                  .fallback = max_torque,
                  .min = 0,
                  .unit = "N m"},  // as of the speed controllers
                 {.name = "max_brake_torque", .fallback = 500, .min = 0, .unit = "N m"}}} {
  }  // N m on each wheel

  std::string_view name() const override { return "throttle_brake"; }
  std::span<const ParamInfo> params() const override { return params_; }
  std::span<const CommandInfo> command() const override { return kCommand; }
  void step(const double* p, const ControllerInput&, const double* command, double*,
            double* actuation) const override {
    actuation[kCarTorque] = actuation[kCarTorqueRight] = std::clamp(command[0], -1.0, 1.0) * p[kMaxTorque];
    actuation[kCarBrake] = std::clamp(command[1], 0.0, 1.0) * p[kMaxBrakeTorque];
    actuation[kCarSteer] = command[2];
  }

 private:
  Params params_;
};

}  // namespace

template <>
const Controller& registered<Controller, class AckermannThrottleBrake>() {
  static const CarThrottleBrake kController(100);
  return kController;
}

template <>
const Controller& registered<Controller, class DrivetrainThrottleBrake>() {
  static const CarThrottleBrake kController(400);
  return kController;
}

}  // namespace mvsim
