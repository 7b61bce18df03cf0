
#include <algorithm>

#include "task/compile_parts.h"
#include "task/track/localization.h"
#include "task/track/race.h"

namespace mvsim {
namespace {

// The owner of the parameters of a row.
enum class Of { kVehicle, kSteered, kRacer, kRay, kSensor };
// The factor of the numbers of a row.
enum class Unit { kOne, kPeriod, kLength };

struct Row {
  Of of;
  const char* path;  // path after that of the vehicle or the sensor
  const char* how;
  Unit unit;
  double standard[2], strong[2];  // bounds of a uniform distribution
};

// docs/env-randomisation.md has the same table.
constexpr Row kRows[] = {
    {Of::kVehicle, "friction/mu", "scale", Unit::kOne, {0.7, 1.2}, {0.4, 1.4}},
    {Of::kVehicle, "friction/C_alpha", "scale", Unit::kOne, {0.7, 1.2}, {0.4, 1.4}},
    {Of::kVehicle, "friction/C_s", "scale", Unit::kOne, {0.7, 1.2}, {0.4, 1.4}},
    {Of::kVehicle, "friction/cone_index_Pa", "scale", Unit::kOne, {0.7, 1.2}, {0.4, 1.4}},
    {Of::kVehicle, "chassis/mass", "scale", Unit::kOne, {0.9, 1.2}, {0.8, 1.4}},
    {Of::kVehicle, "load/x", "value", Unit::kLength, {-0.05, 0.05}, {-0.1, 0.1}},
    {Of::kVehicle, "controller/KP", "scale", Unit::kOne, {0.7, 1.3}, {0.4, 1.6}},
    {Of::kVehicle, "controller/KI", "scale", Unit::kOne, {0.7, 1.3}, {0.4, 1.6}},
    {Of::kVehicle, "controller/max_torque", "scale", Unit::kOne, {0.8, 1.1}, {0.6, 1.2}},
    {Of::kVehicle, "wheels/*/radius", "scale", Unit::kOne, {0.97, 1.03}, {0.94, 1.06}},
    {Of::kVehicle, "wheels/track", "value", Unit::kOne, {0.97, 1.03}, {0.94, 1.06}},
    {Of::kSteered, "steering/offset", "value", Unit::kOne, {-2, 2}, {-4, 4}},
    {Of::kSteered, "steering/rate", "value", Unit::kOne, {0.8, 1.2}, {0.6, 1.4}},
    {Of::kVehicle, "action/delay", "value", Unit::kPeriod, {0, 2}, {0, 4}},
    {Of::kVehicle, "action/noise", "value", Unit::kOne, {0.02, 0.02}, {0.04, 0.04}},
    {Of::kRacer, "push/shortest", "value", Unit::kOne, {0.1, 0.1}, {0.1, 0.1}},
    {Of::kRacer, "push/longest", "value", Unit::kOne, {0.4, 0.4}, {0.4, 0.4}},
    {Of::kRacer, "push/vx", "value", Unit::kOne, {0.1, 0.1}, {0.2, 0.2}},
    {Of::kRacer, "push/vy", "value", Unit::kOne, {0.03, 0.03}, {0.06, 0.06}},
    {Of::kRacer, "push/omega", "value", Unit::kOne, {0.3, 0.3}, {0.6, 0.6}},
    {Of::kRay, "range_std_noise", "value", Unit::kOne, {0.005, 0.03}, {0.01, 0.06}},
    {Of::kSensor, "delay", "value", Unit::kPeriod, {0, 1}, {0, 2}},
    {Of::kSensor, "dropout", "value", Unit::kOne, {0, 0.02}, {0, 0.04}},
    {Of::kSensor, "mount/x", "value", Unit::kOne, {-0.02, 0.02}, {-0.04, 0.04}},
    {Of::kSensor, "mount/y", "value", Unit::kOne, {-0.02, 0.02}, {-0.04, 0.04}},
    {Of::kSensor, "mount/yaw", "value", Unit::kOne, {-2, 2}, {-4, 4}},
};

// The tags of a drive and the inertia of a chassis, where a file states them. No scale leads beyond 1 where
// an absent tag has the largest value there is.
constexpr Row kStatedRows[] = {
    {Of::kVehicle, "chassis/inertia", "scale", Unit::kOne, {0.8, 1.2}, {0.6, 1.5}},
    {Of::kVehicle, "motor/battery_voltage", "scale", Unit::kOne, {0.9, 1.05}, {0.8, 1.1}},
    {Of::kVehicle, "servo/rate", "scale", Unit::kOne, {0.8, 1}, {0.6, 1}},
    {Of::kVehicle, "servo/time_constant", "scale", Unit::kOne, {0.7, 1.3}, {0.5, 1.6}},
    {Of::kVehicle, "limits/*/max_acceleration", "scale", Unit::kOne, {0.8, 1}, {0.6, 1}},
    {Of::kVehicle, "kinematics/wheel_separation_multiplier", "scale", Unit::kOne, {0.95, 1.05}, {0.9, 1.1}},
};

std::string call_text(const char* name, double first, double second) {
  return std::string(name) + "(" + short_number(first, 9) + ", " + short_number(second, 9) + ")";
}

double chassis_length(const VehicleModel& v) {
  const auto [rear, front] = std::ranges::minmax_element(v.chassis.outline, {}, &Vec2::x);
  return front->x - rear->x;
}

Randomization make_randomization(const std::string& path, const char* how, const std::string& distribution,
                                 const SourceLocation& where, const Task& task) {
  TermSpec term;
  term.name = path;
  term.params.tag = "randomize";
  term.params.where = where;
  term.params.values = {{"of", path, where}, {how, distribution, where}, {"optional", "true", where}};
  TermReader reader(term);
  return {reader, *task.models.front()};
}

Randomization make_row(const Row& row, const std::string& owner, double unit, bool strong, const Task& task) {
  const double* const range = strong ? row.strong : row.standard;
  return make_randomization(owner + row.path, row.how, call_text("uniform", unit * range[0], unit * range[1]),
                            task.spec.randomize_level.where, task);
}

bool is_meant(Of of, const SensorModel& sensor) {
  return of == Of::kSensor || (of == Of::kRay && sensor.sensor->kind() == SensorKind::kRay);
}

void add_agent(const Task& task, const AgentTask& agent, bool strong, std::vector<Randomization>& out) {
  const Model& model = *task.models.front();
  const VehicleModel& v = model.vehicles[agent.vehicle];
  const std::string vehicle = "vehicle:" + v.name + "/";
  const auto unit_of = [&](Unit unit) {
    return unit == Unit::kPeriod ? task.control_period : unit == Unit::kLength ? chassis_length(v) : 1.0;
  };
  const bool steers = std::ranges::any_of(agent.action_components,
                                          [](const ActionComponent& c) { return c.name == "steer"; });
  for (const Row& row : kRows) {
    const double unit = unit_of(row.unit);
    if (row.of == Of::kVehicle || (row.of == Of::kSteered && steers) ||
        (row.of == Of::kRacer && find_tracker<RaceTracker>(task.trackers)))
      out.push_back(make_row(row, vehicle, unit, strong, task));
    for (const SensorModel& s : model.sensors)
      if (s.vehicle == agent.vehicle && is_meant(row.of, s))
        out.push_back(make_row(row, vehicle + "sensor:" + s.name + "/", unit, strong, task));
  }
}

void add_rows(const Task& task, std::vector<Randomization>& out) {
  const NamedText& level = task.spec.randomize_level;
  if (level.text.empty() || level.text == "none") return;
  if (level.text != "standard" && level.text != "strong")
    throw WorldFileError(level.where, about("level", level.where) + "found '" + shortened(level.text) +
                                          "', expected none, standard or strong");
  for (const AgentTask& agent : task.agents) add_agent(task, agent, level.text == "strong", out);
}

// Whether a vehicle has parameters of a row whose values its file states.
bool is_stated(const Model& model, const std::string& path) {
  const std::vector<size_t> found = model.find_params(path);
  return !found.empty() && model.params[found[0]].nominal >= 0;
}

void add_stated_rows(const Task& task, std::vector<Randomization>& out) {
  const std::string& level = task.spec.randomize_level.text;
  if (level.empty() || level == "none") return;
  const Model& model = *task.models.front();
  for (const AgentTask& agent : task.agents) {
    const std::string vehicle = "vehicle:" + model.vehicles[agent.vehicle].name + "/";
    for (const Row& row : kStatedRows)
      if (is_stated(model, vehicle + row.path))
        out.push_back(make_row(row, vehicle, 1, level == "strong", task));
  }
}

// The drift of <localization> is that of the vehicle's odometry.
void add_drift(const Task& task, std::vector<Randomization>& out) {
  const auto* const localization = find_tracker<LocalizationTracker>(task.trackers);
  if (!localization || !localization->drift()) return;
  for (const AgentTask& agent : task.agents)
    out.push_back(make_randomization(
        "vehicle:" + task.models.front()->vehicles[agent.vehicle].name + "/odometry/*_multiplier", "value",
        call_text("normal", 1, *localization->drift()), localization->where(), task));
}

}  // namespace

std::vector<Randomization> make_level(const Task& task) {
  std::vector<Randomization> out;
  add_rows(task, out);
  // in this order, so that each draw of a level keeps its stream
  add_drift(task, out);
  add_stated_rows(task, out);
  return out;
}

}  // namespace mvsim
