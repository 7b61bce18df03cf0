// Dynamics `ackermann`: a motor at each front wheel, the rear wheels roll along.
#include <array>

#include "vehicle/car.h"
#include "vehicle/controller.h"
#include "vehicle/dynamics.h"

namespace mvsim {

// The controllers: one line each. Here and not in the class, where `class` would declare another one.
constexpr ControllerRow kControllers[] = {
    registered<Controller, class AckermannRaw>,           registered<Controller, class AckermannTwistIdeal>,
    registered<Controller, class AckermannTwistPid>,      registered<Controller, class AckermannSteerPid>,
    registered<Controller, class AckermannThrottleBrake>,
};

class Ackermann final : public Car {
 public:
  std::string_view name() const override { return "ackermann"; }
  std::string_view alias() const override { return "car_ackermann"; }
  std::span<const Controller* const> controllers() const override { return controllers_; }
  std::span<const ParamInfo> params() const override { return params_; }

  double motor_share(const double* /*p*/, size_t wheel) const override {
    return wheel == kFrontLeft || wheel == kFrontRight ? 1 : 0;
  }

  void drive(const double* p, const double* actuation, std::span<const WheelModel> wheels,
             std::span<WheelState> states, SteerMemo& memo) const override {
    steer_and_brake(p, actuation, wheels, states, memo);
    states[kRearLeft].torque = states[kRearRight].torque = 0;
    states[kFrontLeft].torque = actuation[kCarTorque];
    states[kFrontRight].torque = actuation[kCarTorqueRight];
  }

 private:
  std::array<ParamInfo, kCarParamCount> params_{kMaxSteerParam};
  std::array<const Controller*, 5> controllers_ = objects_of(kControllers);
};

template <>
const Dynamics& registered<Dynamics, Ackermann>() {
  static const Ackermann kDynamics;
  return kDynamics;
}

}  // namespace mvsim
