// Dynamics `ackermann_drivetrain`: one engine, whose torque differentials share among the wheels.
#include <array>

#include "vehicle/actuators.h"
#include "vehicle/car.h"
#include "vehicle/controller.h"
#include "vehicle/dynamics.h"

namespace mvsim {

// The controllers: one line each. Here and not in the class, where `class` would declare another one.
constexpr ControllerRow kControllers[] = {
    registered<Controller, class DrivetrainRaw>,
    registered<Controller, class DrivetrainTwistPid>,
    registered<Controller, class DrivetrainSteerPid>,
    registered<Controller, class DrivetrainThrottleBrake>,
};

namespace {

enum {
  kType = kCarParamCount,
  kCenterSplit,
  kFrontSplit,
  kRearSplit,
  kCenterBias,
  kFrontBias,
  kRearBias,
  kParamCount
};

constexpr ParamInfo split(std::string_view name) {
  return {.name = name, .fallback = 0.5, .min = 0, .max = 1};
}
constexpr ParamInfo bias(std::string_view name) {
  return {.name = name, .fallback = 1.5, .min = 1, .max = 1e6};
}

}  // namespace

class AckermannDrivetrain final : public Car {
 public:
  std::string_view name() const override { return "ackermann_drivetrain"; }
  std::span<const Controller* const> controllers() const override { return controllers_; }
  std::span<const ParamInfo> params() const override { return params_; }

  bool has_engine() const override { return true; }
  double motor_share(const double* p, size_t wheel) const override {
    return torque_shares(drivetrain_of(p), {})[wheel];
  }

  void drive(const double* p, const double* actuation, std::span<const WheelModel> wheels,
             std::span<WheelState> states, SteerMemo& memo) const override {
    steer_and_brake(p, actuation, wheels, states, memo);
    const std::array<double, 4> shares =
        torque_shares(drivetrain_of(p), {states[0].spin, states[1].spin, states[2].spin, states[3].spin});
    for (size_t i = 0; i < states.size(); ++i) states[i].torque = actuation[kCarTorque] * shares[i];
  }

 private:
  static Drivetrain drivetrain_of(const double* p) {
    return {.type = static_cast<DrivetrainType>(static_cast<int>(p[kType])),
            .center = {p[kCenterSplit], p[kCenterBias]},
            .front = {p[kFrontSplit], p[kFrontBias]},
            .rear = {p[kRearSplit], p[kRearBias]}};
  }

  std::array<ParamInfo, kParamCount> params_{
      kMaxSteerParam,
      choice_param("drivetrain/type", kDrivetrainTypes, static_cast<size_t>(DrivetrainType::kTorsen4wd)),
      split("drivetrain/front_rear_split"),
      split("drivetrain/front_left_right_split"),
      split("drivetrain/rear_left_right_split"),
      bias("drivetrain/front_rear_bias"),
      bias("drivetrain/front_left_right_bias"),
      bias("drivetrain/rear_left_right_bias")};
  std::array<const Controller*, 4> controllers_ = objects_of(kControllers);
};

template <>
const Dynamics& registered<Dynamics, AckermannDrivetrain>() {
  static const AckermannDrivetrain kDynamics;
  return kDynamics;
}

}  // namespace mvsim
