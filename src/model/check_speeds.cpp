#include "model/step_limits.h"

#include <cmath>
#include <cstdio>

#include "base/hypot.h"
#include "model/compile_parts.h"

namespace mvsim {
namespace {

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
  model.warnings.push_back(text + ": a step of " + rounded(dt) +
                           " s moves a body by at most 2 m and a quarter turn, that is " +
                           rounded(kMostTravel / dt) + " m/s and " + rounded(kMostTurn / dt) +
                           " rad/s; expected a smaller <simul_timestep>");
}

}  // namespace

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
               "sensor '" + sensor.name + "' is read once a step, at " + rounded(1 / model.timestep) +
                   " Hz in place of " + rounded(1 / period) + " Hz");
  };
  for (const VehicleSpec& vehicle : spec.vehicles)
    for (const SensorSpec& sensor : vehicle.sensors) look(sensor);
  for (const SensorSpec& sensor : spec.sensors) look(sensor);
  if (late.count == 0) return;
  std::string text = late.where.text() + ": " + late.text;
  if (late.count > 1) text += " (and " + std::to_string(late.count - 1) + " more sensors)";
  model.warnings.push_back(text + ": its <sensor_period> is shorter than the step of " +
                           rounded(model.timestep) + " s, expected a smaller <simul_timestep>");
}

}  // namespace mvsim
