// The action classes: twist and wheel_torque; for cars also speed_steer, steer_torque and throttle_brake.
#include <algorithm>
#include <cmath>

#include "model/transfer_params.h"
#include "task/make_term.h"
#include "vehicle/car.h"

namespace mvsim {
namespace {

std::string controller_text(const VehicleModel& vehicle) {
  return "vehicle '" + vehicle.name + "' has the controller '" + std::string(vehicle.controller->name()) +
         "'";
}

Interval required_interval(TermReader& reader, const char* name) {
  const auto interval = reader.interval(name);
  if (!interval || !(interval->low < interval->high))
    reader.fail(name, std::string("expected the attribute '") + name + "', two numbers: low and high");
  return *interval;
}

void require_controller(TermReader& reader, const VehicleModel& vehicle, const char* name) {
  if (vehicle.controller->name() != name)
    reader.fail("class", controller_text(vehicle) + ", expected '" + name + "'");
}

bool commands_torque(const CommandInfo& command) {
  return command.unit == "N m";
}

// The steering component of a car: `steer` degrees to either side, by default the car's limit.
ActionComponent steer_component(TermReader& reader, const TaskContext& context) {
  const VehicleModel& vehicle = context.model.vehicles[context.vehicle];
  const std::span<const ParamInfo> table = vehicle.dynamics->params();
  const auto row = std::find_if(table.begin(), table.end(),
                                [](const ParamInfo& info) { return info.name == "max_steer_ang_deg"; });
  if (row == table.end())
    reader.fail("class", "vehicle '" + vehicle.name + "' has the dynamics '" +
                             std::string(vehicle.dynamics->name()) + "', expected one that steers");
  const auto index = vehicle.dynamics_params + static_cast<size_t>(row - table.begin());
  const double limit = context.model.params[index].nominal / kDegree;
  const double steer = reader.number("steer", limit, {kPositive.min, limit}) * kDegree;
  return {"steer", -steer, steer};
}

// An action whose components are the command itself.
class DirectAction : public Action {
 public:
  explicit DirectAction(const TaskContext& context) : vehicle_(context.vehicle) {}
  std::vector<ActionComponent> components() const final { return components_; }
  void apply(Simulation& simulation, const double* values) const override {
    simulation.set_command(vehicle_, {values, components_.size()});
  }

 protected:
  size_t vehicle_;
  std::vector<ActionComponent> components_;
};

double magnitude(Interval interval) {
  return std::max(std::fabs(interval.low), std::fabs(interval.high));
}

}  // namespace

// (vx, omega) for a controller that takes a twist.
class TwistAction final : public DirectAction {
 public:
  TwistAction(TermReader& reader, TaskContext& context) : DirectAction(context) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    if (!vehicle.controller->accepts_twist())
      reader.fail("class", controller_text(vehicle) + ", expected one that takes a twist");
    const Interval vx = required_interval(reader, "vx"), omega = required_interval(reader, "omega");
    components_ = {{"vx", vx.low, vx.high}, {"omega", omega.low, omega.high}};
    context.vx_max = magnitude(vx);
    context.omega_max = magnitude(omega);
  }
};
template std::unique_ptr<const Action> term<TwistAction>(TermReader&, TaskContext&);

// A torque (N m, positive drives forward) for each motor of the controller `raw`.
class WheelTorqueAction final : public DirectAction {
 public:
  WheelTorqueAction(TermReader& reader, TaskContext& context) : DirectAction(context) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    require_controller(reader, vehicle, "raw");
    const double torque = reader.required_number("torque", kPositive);
    for (const CommandInfo& c : vehicle.controller->command()) {
      if (!commands_torque(c))
        reader.fail("class", "vehicle '" + vehicle.name + "' steers, expected the class 'steer_torque'");
      components_.push_back({std::string(c.name), -torque, torque});
    }
  }
  void apply(Simulation& simulation, const double* values) const override {
    double command[kMaxCommand];
    // in world files a negative torque drives forward
    for (size_t i = 0; i < components_.size(); ++i) command[i] = -values[i];
    simulation.set_command(vehicle_, {command, components_.size()});
  }
};
template std::unique_ptr<const Action> term<WheelTorqueAction>(TermReader&, TaskContext&);

// A torque (N m of each motor, positive drives forward) and a steering angle for the controller `raw` of a
// car.
class SteerTorqueAction final : public DirectAction {
 public:
  SteerTorqueAction(TermReader& reader, TaskContext& context) : DirectAction(context) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    require_controller(reader, vehicle, "raw");
    const double torque = reader.required_number("torque", kPositive);
    components_ = {{"torque", -torque, torque}, steer_component(reader, context)};
    command_ = vehicle.controller->command();
  }
  void apply(Simulation& simulation, const double* values) const override {
    double command[kMaxCommand];
    for (size_t i = 0; i < command_.size(); ++i)
      command[i] = commands_torque(command_[i]) ? -values[0] : values[1];
    simulation.set_command(vehicle_, {command, command_.size()});
  }

 private:
  std::span<const CommandInfo> command_;
};
template std::unique_ptr<const Action> term<SteerTorqueAction>(TermReader&, TaskContext&);

// A speed and a steering angle for the controller `front_steer_pid`.
class SpeedSteerAction final : public DirectAction {
 public:
  SpeedSteerAction(TermReader& reader, TaskContext& context)
      : DirectAction(context),
        steer_rate_(context.model.vehicles[context.vehicle].transfer_params + kSteerRate) {
    require_controller(reader, context.model.vehicles[vehicle_], "front_steer_pid");
    const Interval vx = required_interval(reader, "vx");
    components_ = {{"vx", vx.low, vx.high}, steer_component(reader, context)};
    const SinCos steer = sin_cos(components_[1].high);
    const double length = wheelbase(context.model.vehicles[vehicle_].wheels);
    context.vx_max = magnitude(vx);
    context.omega_max = context.vx_max * steer.sin / (steer.cos * length);
    if (reader.has("steer_rate"))
      most_steer_change_ =
          context.control_period * kDegree * reader.required_number("steer_rate", {kPositive.min, 1e6});
  }
  void apply(Simulation& simulation, const double* values) const override {
    const double steer = simulation.state().vehicles[vehicle_].command[1];
    const double rate = simulation.state().params[steer_rate_];
    const double most = most_steer_change_ * rate;
    const double command[] = {values[0], std::clamp(values[1], steer - most, steer + most)};
    simulation.set_command(vehicle_, command);
  }

 private:
  double most_steer_change_ = 1e9;  // rad a control period
  size_t steer_rate_;               // index in Model::params: factor of the steering rate
};
template std::unique_ptr<const Action> term<SpeedSteerAction>(TermReader&, TaskContext&);

// Pedals and a steering angle for the controller `throttle_brake`.
class ThrottleBrakeAction final : public DirectAction {
 public:
  ThrottleBrakeAction(TermReader& reader, TaskContext& context) : DirectAction(context) {
    require_controller(reader, context.model.vehicles[vehicle_], "throttle_brake");
    const Interval throttle = reader.interval("throttle", {-1, 1}).value_or(Interval{-1, 1});
    const Interval brake = reader.interval("brake", {0, 1}).value_or(Interval{0, 1});
    components_ = {{"throttle", throttle.low, throttle.high},
                   {"brake", brake.low, brake.high},
                   steer_component(reader, context)};
  }
};
template std::unique_ptr<const Action> term<ThrottleBrakeAction>(TermReader&, TaskContext&);

}  // namespace mvsim
