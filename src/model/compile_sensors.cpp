#include "sensor/sensors.h"

#include "model/compile_parts.h"
#include "model/transfer_params.h"

namespace mvsim {
namespace {

[[noreturn]] void unknown(const SensorSpec& spec) {
  std::vector<std::string> names;
  for (const auto& some : {sensor_classes(), more_sensor_classes()})
    for (const SensorClass& c : some) names.emplace_back(c.name);
  unknown_class(spec.params, names);
}

double period_of(const SensorSpec& spec) {
  const NamedText* const text = spec.params.find("sensor_period");
  if (!text) return SensorModel{}.period;
  const double period = parse_number(*text);
  check_range({.name = "sensor_period", .min = kShortestPeriod, .max = 1e6}, period, text->where);
  return period;
}

// `owner` is the beginning of the names of its parameters, e.g. "vehicle:r1/".
SensorModel compile(const SensorSpec& spec, const std::string& owner, LoadGuard& guard, Model& model) {
  const SensorClass* const known = find_sensor_class(spec.params.class_name);
  if (!known) unknown(spec);
  SensorModel sensor;
  sensor.name = spec.name;
  sensor.publish_topic = spec.publish_topic;
  sensor.class_name = known->name;
  sensor.sensor = known->compile(spec, guard, model.warnings);
  sensor.period = period_of(spec);
  sensor.params = add_params(model, owner + "sensor:" + spec.name + "/", sensor.sensor->params(),
                             sensor.sensor->nominal_params());
  add_transfer_params(owner, sensor, model);
  return sensor;
}

}  // namespace

void compile_sensors(const VehicleSpec& spec, size_t vehicle, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    SensorModel sensor = compile(s, "vehicle:" + spec.name + "/", guard, model);
    sensor.vehicle = vehicle;
    model.sensors.push_back(std::move(sensor));
  }
}

void compile_standalone_sensors(const WorldSpec& spec, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    model.sensors.push_back(compile(s, "", guard, model));
  }
}

}  // namespace mvsim
