#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/math.h"
#include "base/text.h"
#include "model/compile_parts.h"
#include "vehicle/speed_pid.h"

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

// Returns the inertia that the rotor of a motor adds to a wheel, kg m2.
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

// Whether the tires' default C_damping, which suits robots of some kilograms, is far too much for a lighter
// one.

constexpr std::string_view kDampingTag = "C_damping";
constexpr double kLeast = 0.5;  // s in which a vehicle that rolls freely may lose its speed (to 1/e)
constexpr double kUsual = 5;    // s that are usual

const ParamInfo* damping_of(const TireModel& tire) {
  for (const ParamInfo& param : tire.params())
    if (param.name == kDampingTag) return &param;
  return nullptr;
}

// Highest usual commands of vehicles whose controllers have no limit.
constexpr double kUsualSpeed = 50, kUsualTurn = 20;  // m/s, rad/s

// The first of a kind, and how many there are.
struct First {
  SourceLocation where;
  std::string text;
  size_t count = 0;

  void add(const SourceLocation& at, const std::string& what) {
    if (count++ == 0) where = at, text = what;
  }
};

void warn(const First& found, const char* others, Model& model) {
  if (found.count == 0) return;
  std::string text = found.where.text() + ": " + found.text;
  if (found.count > 1) text += " (and " + std::to_string(found.count - 1) + " more " + others + ")";
  const double dt = model.timestep;
  model.warnings.push_back(text + ": a step of " + short_number(dt, 3) +
                           " s moves a body by at most 2 m and a quarter turn, that is " +
                           short_number(kMostTravel / dt, 3) + " m/s and " + short_number(kMostTurn / dt, 3) +
                           " rad/s; expected a smaller <simul_timestep>");
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
        short_number(model.timestep, 3) + " s with KP " + short_number(gains.kp, 3) + " and max_torque " +
        short_number(gains.max_torque, 3) + ": " + what + "; KP " + short_number(better.kp, 3) + ", KI " +
        short_number(better.ki, 3) + ", max_torque " + short_number(better.max_torque, 3) + " do");
  }
}

void check_dampings(const WorldSpec& spec, Model& model) {
  std::set<std::string> reported;
  for (const VehicleSpec& vehicle : spec.vehicles) {
    const VehicleModel& v = model.vehicles[model.vehicle_index(vehicle.name)];
    const ParamInfo* const damping = damping_of(*v.tire);
    // a controller that imposes a twist heeds no torque
    if (!damping || vehicle.friction.find(kDampingTag) || (vehicle.motor && !vehicle.motor->torque_control) ||
        v.controller->imposes_twist() || v.controller->imposes_spins() || !(model.gravity > 0))
      continue;
    double mass = model.params[v.body_params + kChassisMass].nominal, turning = 0;
    for (const WheelModel& w : v.wheels) {
      mass += w.mass + w.inertia / (w.radius * w.radius);
      turning += 1 / (w.radius * w.radius);
    }
    const double seconds = mass / (damping->fallback * turning);
    if (seconds >= kLeast) continue;
    const std::string text = "has no <C_damping> in its <friction>: the default, " +
                             short_number(damping->fallback, 3) +
                             " N m s/rad, is too much for a vehicle of its size, which loses its speed in " +
                             short_number(seconds, 2) + " s; C_damping " +
                             short_number(mass / (kUsual * turning), 1) + " lets it roll for some seconds";
    if (reported.insert(text).second)
      model.warnings.push_back(vehicle.friction.where.text() + ": vehicle '" + v.name + "' " + text);
  }
}

void check_speeds(const WorldSpec& spec, bool is_commanded_elsewhere, Model& model) {
  const double most = kMostTravel / model.timestep, most_turn = kMostTurn / model.timestep;
  const auto is_beyond = [&](double vx, double vy, double omega) {
    return math::hypot(vx, vy) > most || std::fabs(omega) > most_turn;
  };
  First started, commanded, unlimited, blocks;
  for (const VehicleModel& v : model.vehicles) {
    const std::string name = "<vehicle> '" + v.name + "'";
    const Twist2& twist = v.initial_twist;
    if (is_beyond(twist.vx, twist.vy, twist.omega))
      started.add(v.where, name + " starts faster than a step can move it");
    if (v.controller->accepts_twist()) {
      std::vector<double> params;
      for (size_t i = 0; i < v.controller->params().size(); ++i)
        params.push_back(model.params[v.controller_params + i].nominal);
      double command[kMaxCommand] = {};
      v.controller->initial_command(params.data(), command);
      if (is_beyond(command[0], 0, command[1]))
        commanded.add(v.where, name + " is commanded faster than a step can move it");
    }
    if (most < kUsualSpeed || most_turn < kUsualTurn)
      unlimited.add(v.where,
                    name + " has no limit of its speed, and may be commanded faster than a step can move it");
  }
  for (const BlockModel& b : model.blocks)
    if (b.body >= 0 && !b.traits.is_static &&
        is_beyond(b.initial_twist.vx, b.initial_twist.vy, b.initial_twist.omega))
      blocks.add(b.where, "<block> '" + b.name + "' starts faster than a step can move it");
  warn(started, "vehicles", model);
  warn(commanded, "vehicles", model);
  warn(blocks, "blocks", model);
  if (!is_commanded_elsewhere) warn(unlimited, "vehicles", model);
  // sensors: one reading a step at most
  First late;
  const auto look = [&](const SensorSpec& sensor) {
    const NamedText* const text = sensor.params.find("sensor_period");
    const double period = text ? parse_number(*text) : SensorModel{}.period;
    if (period < model.timestep * (1 - 1e-9))
      late.add(text ? text->where : sensor.params.where,
               "sensor '" + sensor.name + "' is read once a step, at " + short_number(1 / model.timestep, 3) +
                   " Hz in place of " + short_number(1 / period, 3) + " Hz");
  };
  for (const VehicleSpec& vehicle : spec.vehicles)
    for (const SensorSpec& sensor : vehicle.sensors) look(sensor);
  for (const SensorSpec& sensor : spec.sensors) look(sensor);
  if (late.count == 0) return;
  std::string text = late.where.text() + ": " + late.text;
  if (late.count > 1) text += " (and " + std::to_string(late.count - 1) + " more sensors)";
  model.warnings.push_back(text + ": its <sensor_period> is shorter than the step of " +
                           short_number(model.timestep, 3) + " s, expected a smaller <simul_timestep>");
}

}  // namespace mvsim
