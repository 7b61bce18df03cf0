// <sensor>: those whose class has readings, and those that only have a place and a period yet.
#include "sensor/sensors.h"

#include <algorithm>
#include <map>

#include "model/compile_parts.h"
#include "sensor/pending_sensors.h"

namespace mvsim {
namespace {

const SensorClass* find_class(std::string_view name) {
  for (const auto& some : {sensor_classes(), more_sensor_classes()})
    for (const SensorClass& c : some)
      if (c.name == name) return &c;
  return nullptr;
}

const PendingSensorClass* find_pending(std::string_view name) {
  for (const PendingSensorClass& c : pending_sensor_classes())
    if (c.name == name) return &c;
  return nullptr;
}

[[noreturn]] void unknown(const SensorSpec& spec) {
  std::vector<std::string> names;
  for (const auto& some : {sensor_classes(), more_sensor_classes()})
    for (const SensorClass& c : some) names.emplace_back(c.name);
  for (const PendingSensorClass& c : pending_sensor_classes()) names.emplace_back(c.name);
  unknown_class(spec.params, names);
}

double period_of(const SensorSpec& spec) {
  const NamedText* const text = spec.params.find("sensor_period");
  if (!text) return SensorModel{}.period;
  const double period = parse_number(*text);
  check_range({.name = "sensor_period", .min = kShortestPeriod, .max = 1e6}, period, text->where);
  return period;
}

// No vehicle: one that stands in the world by itself, which nothing reads yet, whatever its class.
void compile_pending(const SensorSpec& spec, std::optional<size_t> vehicle, LoadGuard& guard, Model& model) {
  PendingSensorModel out{.name = spec.name, .vehicle = vehicle, .period = period_of(spec)};
  if (const PendingSensorClass* pending = find_pending(spec.params.class_name)) {
    out.class_name = pending->name;
    out.mount = check_pending_sensor(*pending, spec, model.warnings);
  } else if (const SensorClass* known = find_class(spec.params.class_name)) {
    out.class_name = known->name;
    out.mount = known->compile(spec, guard, model.warnings)->mount();
  } else {
    unknown(spec);
  }
  model.pending_sensors.push_back(std::move(out));
}

struct Group {
  int count = 0;
  SourceLocation first;
};

}  // namespace

void compile_sensors(const VehicleSpec& spec, size_t vehicle, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    const SensorClass* const known = find_class(s.params.class_name);
    if (!known) {
      compile_pending(s, vehicle, guard, model);
      continue;
    }
    SensorModel sensor;
    sensor.name = s.name;
    sensor.vehicle = vehicle;
    sensor.class_name = known->name;
    sensor.sensor = known->compile(s, guard, model.warnings);
    sensor.period = period_of(s);
    sensor.params = add_params(model, "vehicle:" + spec.name + "/sensor:" + s.name + "/",
                               sensor.sensor->params(), sensor.sensor->nominal_params());
    model.sensors.push_back(std::move(sensor));
  }
}

void compile_standalone_sensors(const WorldSpec& spec, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    compile_pending(s, std::nullopt, guard, model);
  }
}

void warn_of_pending_sensors(const WorldSpec& spec, Model& model) {
  std::map<std::string, Group> groups;
  const auto add = [&](const std::string& what, const SourceLocation& where) {
    Group& group = groups[what];
    if (group.count++ == 0) group.first = where;
  };
  for (const VehicleSpec& vehicle : spec.vehicles)
    for (const SensorSpec& s : vehicle.sensors)
      if (!find_class(s.params.class_name))
        add("a <sensor class=\"" + s.params.class_name + "\">", s.params.where);
  for (const SensorSpec& s : spec.sensors) add("a <sensor> outside of a vehicle", s.params.where);
  for (const auto& [what, group] : groups)
    model.warnings.push_back(
        group.first.text() + ": " + what + " has no readings in this version" +
        (group.count > 1 ? " (" + std::to_string(group.count) + " times, here first)" : ""));
}

}  // namespace mvsim
