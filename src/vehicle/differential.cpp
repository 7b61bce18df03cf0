// Dynamics `differential`, `differential_3_wheels`, `differential_4_wheels`: left wheels share one torque,
// right wheels the other; a caster is an unpowered wheel of fixed yaw.
#include <array>

#include "vehicle/controller.h"
#include "vehicle/dynamics.h"

namespace mvsim {

// The controllers: one line each. Here and not in the class, where `class` would declare another one.
constexpr ControllerRow kControllers[] = {
    registered<Controller, class DifferentialRaw>,
    registered<Controller, class DifferentialTwistPid>,
    registered<Controller, class DifferentialTwistIdeal>,
    registered<Controller, class DifferentialTwistWheels>,
};

namespace {

constexpr WheelSlot kTwo[] = {{"l_wheel", {0, 0.5}}, {"r_wheel", {0, -0.5}}};
constexpr WheelSlot kThree[] = {{"l_wheel", {0, 0.5}}, {"r_wheel", {0, -0.5}}, {"caster_wheel", {0.5, 0}}};
constexpr WheelSlot kFour[] = {
    {"lr_wheel", {0, 0.5}}, {"rr_wheel", {0, -0.5}}, {"lf_wheel", {0.5, 0.5}}, {"rf_wheel", {0.5, -0.5}}};

class DifferentialDrive final : public Dynamics {
 public:
  DifferentialDrive(std::string_view name, std::span<const WheelSlot> slots) : name_(name), slots_(slots) {}

  std::string_view name() const override { return name_; }
  std::span<const WheelSlot> wheel_slots() const override { return slots_; }
  std::span<const Controller* const> controllers() const override { return controllers_; }
  double default_mass() const override { return 15; }
  double default_z_min() const override { return 0.05; }
  double default_z_max() const override { return 0.6; }
  const Polygon& default_shape() const override { return shape_; }

  std::string_view check_wheels(std::span<const WheelModel> wheels,
                                const Controller& controller) const override {
    const double track = wheels[0].position.y - wheels[1].position.y;
    if (track == 0) return "the first two wheels have the same y: odometry cannot tell them apart";
    if (track < 0 && controller.accepts_twist())
      return "the left wheel must have a larger y than the right one";
    return {};
  }

  double motor_share(const double* /*p*/, size_t wheel) const override { return is_driven(wheel) ? 1 : 0; }

  void drive(const double* /*p*/, const double* actuation, std::span<const WheelModel> /*wheels*/,
             std::span<WheelState> states, SteerMemo& /*memo*/) const override {
    for (size_t i = 0; i < states.size(); ++i) states[i].torque = is_driven(i) ? actuation[i % 2] : 0;
  }

 private:
  bool is_driven(size_t wheel) const { return slots_.size() != 3 || wheel < 2; }

  std::string_view name_;
  std::span<const WheelSlot> slots_;
  std::array<const Controller*, 4> controllers_ = objects_of(kControllers);
  Polygon shape_{{-0.4, -0.5}, {-0.4, 0.5}, {0.4, 0.5}, {0.6, 0.3}, {0.6, -0.3}, {0.4, -0.5}};
};

}  // namespace

template <>
const Dynamics& registered<Dynamics, class DifferentialTwoWheels>() {
  static const DifferentialDrive kDynamics("differential", kTwo);
  return kDynamics;
}

template <>
const Dynamics& registered<Dynamics, class DifferentialThreeWheels>() {
  static const DifferentialDrive kDynamics("differential_3_wheels", kThree);
  return kDynamics;
}

template <>
const Dynamics& registered<Dynamics, class DifferentialFourWheels>() {
  static const DifferentialDrive kDynamics("differential_4_wheels", kFour);
  return kDynamics;
}

}  // namespace mvsim
