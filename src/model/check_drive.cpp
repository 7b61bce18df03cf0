#include "model/compile_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "vehicle/speed_loop.h"

namespace mvsim {
namespace {

// A controller's parameters, to be changed by name.
class NamedParams {
 public:
  NamedParams(const Model& model, const VehicleModel& v) : table_(v.controller->params()) {
    for (size_t i = 0; i < table_.size(); ++i)
      values_.push_back(model.params[v.controller_params + i].nominal);
  }
  double* find(std::string_view name) {
    for (size_t i = 0; i < table_.size(); ++i)
      if (table_[i].name == name) return &values_[i];
    return nullptr;
  }
  double at(std::string_view name) { return *find(name); }
  const double* data() const { return values_.data(); }

 private:
  std::span<const ParamInfo> table_;
  std::vector<double> values_;
};

// N m at each wheel under a command while everything stands, with KP 1 and nothing else.
std::vector<double> torques(const Model& model, const VehicleModel& v, NamedParams params, double speed,
                            double second) {
  for (const char* const name : {"KI", "KD", "N", "max_torque", "enable_antiwindup", "enable_feedforward",
                                 "enable_reference_filter", "zero_threshold"})
    *params.find(name) = 0;
  *params.find("KP") = 1;
  std::vector<double> dynamics_params;
  for (size_t i = 0; i < v.dynamics->params().size(); ++i)
    dynamics_params.push_back(model.params[v.dynamics_params + i].nominal);
  std::vector<WheelState> wheels(v.wheels.size());
  std::vector<double> state(v.controller->state_size());
  const double command[kMaxCommand] = {speed, second};
  double actuation[kMaxActuation] = {};
  v.controller->step(params.data(),
                     {.dt = model.timestep,
                      .wheels = v.wheels,
                      .states = wheels,
                      .odometry = {},
                      .dynamics_params = dynamics_params.data()},
                     command, state.data(), actuation);
  SteerMemo memo;
  v.dynamics->drive(dynamics_params.data(), actuation, v.wheels, wheels, memo);
  std::vector<double> out;
  for (const WheelState& w : wheels) out.push_back(w.torque);
  return out;
}

// kg m2 that the rotor of a motor adds to a wheel.
double motor_inertia(const Model& model, const VehicleModel& v, size_t wheel) {
  if (!v.drive.motor) return 0;
  double motor[kMotorParamCount];
  for (size_t i = 0; i < kMotorParamCount; ++i) motor[i] = model.params[*v.drive.motor + i].nominal;
  std::vector<double> dynamics_params;
  for (size_t i = 0; i < v.dynamics->params().size(); ++i)
    dynamics_params.push_back(model.params[v.dynamics_params + i].nominal);
  return v.dynamics->motor_share(dynamics_params.data(), wheel) * wheel_motor(motor).inertia;
}

SpeedLoop loop_of(const Model& model, const VehicleModel& v, const NamedParams& params) {
  const double chassis = model.params[v.body_params + kChassisMass].nominal;
  const auto count = static_cast<double>(v.wheels.size());
  double mass = chassis, inertia = chassis * v.chassis.unit_inertia;
  Vec2 center = chassis * v.chassis.centroid;
  for (const WheelModel& w : v.wheels) {
    mass += w.mass;
    center = center + w.mass * w.position;
    inertia += w.mass * dot(w.position, w.position);
  }
  inertia -= dot(center, center) / mass;

  SpeedLoop loop{.dt = model.timestep, .grip = std::numeric_limits<double>::infinity()};
  std::vector<double> tire;
  for (size_t i = 0; i < v.tire->params().size(); ++i)
    tire.push_back(model.params[v.tire_params + i].nominal);
  const std::vector<double> straight = torques(model, v, params, 1, 0);
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    if (straight[i] == 0) continue;
    const WheelModel& w = v.wheels[i];
    loop.driving += straight[i] / (w.radius * mass);
    const double inertia = w.inertia + motor_inertia(model, v, i);
    loop.spinning = std::max(loop.spinning, straight[i] * w.radius / inertia);
    const double load = (chassis / count + w.mass) * model.gravity;
    const TireGrip grip = v.tire->grip(tire.data(), w.radius, w.width, load);
    loop.grip = std::min(loop.grip, grip.share * load * w.radius / straight[i]);
    loop.slips_ever = loop.slips_ever || grip.needs_slip;
  }
  // cars steer instead
  if (v.controller->accepts_twist() && !v.dynamics->steers()) {
    const std::vector<double> turn = torques(model, v, params, 0, 1);
    for (size_t i = 0; i < v.wheels.size(); ++i)
      loop.turning -= turn[i] * v.wheels[i].position.y / (v.wheels[i].radius * inertia);
  }
  return loop;
}

}  // namespace

void check_drives(const WorldSpec& spec, Model& model) {
  for (const VehicleSpec& vehicle : spec.vehicles) {
    const VehicleModel& v = model.vehicles[model.vehicle_index(vehicle.name)];
    NamedParams params(model, v);
    if (!params.find("KP") || !(model.gravity > 0)) continue;
    const SpeedGains gains{params.at("KP"), params.at("KI"), params.at("max_torque")};
    const SpeedLoop loop = loop_of(model, v, params);
    const std::optional<SpeedFault> fault = fault_of(loop, gains);
    if (!fault) continue;
    const SpeedGains better = settling_gains(loop, gains);
    const char* const what = *fault == SpeedFault::kOvershoots
                                 ? "the vehicle's speed overshoots in every step"
                                 : "its wheels break away and swing about the speed that they should have";
    model.warnings.push_back(
        vehicle.controller.where.text() + ": <controller class=\"" + std::string(v.controller->name()) +
        "\"> of vehicle '" + v.name + "' settles badly or not at all at a step of " +
        rounded(model.timestep) + " s with KP " + rounded(gains.kp) + " and max_torque " +
        rounded(gains.max_torque) + ": " + what + "; KP " + rounded(better.kp) + ", KI " +
        rounded(better.ki) + ", max_torque " + rounded(better.max_torque) + " do");
  }
}

}  // namespace mvsim
