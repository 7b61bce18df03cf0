#include "env/observe_terms.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "model/sensor_layout.h"

namespace mvsim {
namespace {

// Of a state or ray sensor.
class Reading final : public Observation {
 public:
  Reading(const ReadingSpec& spec, size_t sensor, bool scheduled)
      : spec_(spec), sensor_(sensor), scheduled_(scheduled) {}
  std::vector<Interval> bounds() const override {
    return std::vector<Interval>(spec_.size(), {spec_.low, spec_.high});
  }
  DType dtype() const override { return spec_.dtype; }
  std::optional<size_t> sensor() const override { return sensor_; }
  std::vector<size_t> shape() const override { return spec_.shape; }
  void write_frame(EnvState& env, AgentState&, Scratch&, std::byte* out) const override {
    if (scheduled_)  // zero before the first
      std::ranges::copy(reading_of(env.simulation, sensor_), out);
    else
      env.simulation.read_now(sensor_, out, nullptr);
  }

 private:
  const ReadingSpec& spec_;  // of the Model, which outlives the terms
  size_t sensor_;
  bool scheduled_;
};

}  // namespace

size_t find_sensor(TermReader& reader, const TaskContext& context) {
  const std::string& vehicle = context.model.vehicles[context.vehicle].name;
  try {
    return context.model.sensor_index(vehicle, reader.text("sensor", ""));
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    reader.fail("sensor", e.what());
  }
}

size_t find_sensor_of_class(TermReader& reader, const TaskContext& context, std::string_view class_name,
                            const std::string& what) {
  const std::vector<SensorModel>& sensors = context.model.sensors;
  if (reader.has("sensor")) {
    const size_t found = find_sensor(reader, context);
    if (sensors[found].class_name != class_name)
      reader.fail("sensor", "found a sensor of class '" + std::string(sensors[found].class_name) +
                                "', expected a sensor of class '" + std::string(class_name) + "'");
    return found;
  }
  for (size_t i = 0; i < sensors.size(); ++i)
    if (sensors[i].vehicle == context.vehicle && sensors[i].class_name == class_name) return i;
  reader.fail("sensor", "vehicle '" + context.model.vehicles[context.vehicle].name + "' has no " + what);
}

double read_max(TermReader& reader, TaskContext& context, double range) {
  const double max = reader.number("max", range, kPositive);
  if (max > range) {
    char text[128];
    std::snprintf(text, sizeof text,
                  ", max: %g m is beyond the sensor's range of %g m, which no value exceeds", max, range);
    context.needs.warnings.push_back(reader.term().params.find("max")->where.text() + ": " +
                                     describe(reader.term()) + text);
  }
  return max;
}

std::unique_ptr<const Observation> make_reading_observation(TermReader& reader, TaskContext& context) {
  reader.required_text("sensor");
  const size_t sensor = find_sensor(reader, context);
  const bool scheduled = reader.choice("timing", {"control", "sensor"}) == 1;
  if (scheduled) context.needs.scheduled_sensors.push_back(sensor);
  const Sensor& s = *context.model.sensors[sensor].sensor;
  if (s.kind() == SensorKind::kView) return make_image_reading(context.model, sensor, 0, scheduled);
  return std::make_unique<Reading>(s.reading(), sensor, scheduled);
}

}  // namespace mvsim
