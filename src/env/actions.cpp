// How an agent acts: twist, wheel_torque.
#include <algorithm>
#include <cmath>

#include "env/terms.h"

namespace mvsim {
namespace {

std::string controller_text(const VehicleModel& vehicle) {
  return "vehicle '" + vehicle.name + "' has the controller '" + std::string(vehicle.controller->name()) +
         "'";
}

// (vx, omega) for a controller that takes a twist.
class Twist final : public Action {
 public:
  Twist(TermReader& reader, TaskContext& context) : vehicle_(context.vehicle) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    if (!vehicle.controller->accepts_twist())
      reader.fail("class", controller_text(vehicle) + ", expected one that takes a twist");
    vx_ = required(reader, "vx");
    omega_ = required(reader, "omega");
    context.vx_max = std::max(std::fabs(vx_.low), std::fabs(vx_.high));
    context.omega_max = std::max(std::fabs(omega_.low), std::fabs(omega_.high));
  }
  std::vector<ActionComponent> components() const override {
    return {{"vx", vx_.low, vx_.high}, {"omega", omega_.low, omega_.high}};
  }
  void apply(Simulation& simulation, const double* values) const override {
    simulation.set_command(vehicle_, {values, 2});
  }

 private:
  static Interval required(TermReader& reader, const char* name) {
    const auto interval = reader.interval(name);
    if (!interval || !(interval->low < interval->high))
      reader.fail(name, std::string("expected the attribute '") + name + "', two numbers: low and high");
    return *interval;
  }

  size_t vehicle_;
  Interval vx_, omega_;
};

// A torque (N m, positive drives forward) for each motor of the controller `raw`.
class WheelTorque final : public Action {
 public:
  WheelTorque(TermReader& reader, TaskContext& context) : vehicle_(context.vehicle) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    if (vehicle.controller->name() != "raw")
      reader.fail("class", controller_text(vehicle) + ", expected 'raw'");
    const double torque = reader.required_number("torque", kPositive);
    for (const CommandInfo& c : vehicle.controller->command())
      components_.push_back({std::string(c.name), -torque, torque});
  }
  std::vector<ActionComponent> components() const override { return components_; }
  void apply(Simulation& simulation, const double* values) const override {
    double command[kMostCommand];
    // the world language's torques are negative forward
    for (size_t i = 0; i < components_.size(); ++i) command[i] = -values[i];
    simulation.set_command(vehicle_, {command, components_.size()});
  }

 private:
  size_t vehicle_;
  std::vector<ActionComponent> components_;
};

template <typename T>
std::unique_ptr<const Action> make(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

constexpr TermClass<Action> kClasses[] = {{"twist", make<Twist>}, {"wheel_torque", make<WheelTorque>}};

}  // namespace

std::span<const TermClass<Action>> action_classes() {
  return kClasses;
}

}  // namespace mvsim
