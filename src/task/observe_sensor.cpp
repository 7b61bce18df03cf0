// Observations of sensor readings: reading, imu, gnss.
#include "task/observe_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "model/model.h"
#include "task/make_term.h"

namespace mvsim {

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

bool read_timing(TermReader& reader, TaskContext& context, size_t sensor) {
  const bool scheduled = reader.choice("timing", {"control", "sensor"}) == 1;
  if (scheduled) context.needs.scheduled_sensors.push_back(sensor);
  return scheduled;
}

// The reading of a state or ray sensor, in the layout of its ReadingSpec.
class ReadingObservation final : public Observation {
 public:
  ReadingObservation(const ReadingSpec& spec, size_t sensor, bool scheduled)
      : spec_(spec), sensor_(sensor), scheduled_(scheduled) {}
  std::vector<Interval> bounds() const override {
    return std::vector<Interval>(spec_.size(), {spec_.low, spec_.high});
  }
  DType dtype() const override { return spec_.dtype; }
  std::optional<size_t> sensor() const override { return sensor_; }
  std::vector<size_t> shape() const override { return spec_.shape; }
  void write_frame(EnvState& env, AgentState&, Scratch&, std::byte* out) const override {
    if (scheduled_)  // zero before the first reading
      std::ranges::copy(reading_of(env.simulation, sensor_), out);
    else
      env.simulation.read_now(sensor_, out, nullptr);
  }

 private:
  const ReadingSpec& spec_;  // of the Model, which outlives the terms
  size_t sensor_;
  bool scheduled_;
};

// Makes the observation of a reading of a sensor of any kind.
template <>
std::unique_ptr<const Observation> term<ReadingObservation>(TermReader& reader, TaskContext& context) {
  reader.required_text("sensor");
  const size_t sensor = find_sensor(reader, context);
  const bool scheduled = read_timing(reader, context, sensor);
  const Sensor& s = *context.model.sensors[sensor].sensor;
  if (s.kind() == SensorKind::kView) return make_image_reading(context.model, sensor, 0, scheduled);
  return std::make_unique<ReadingObservation>(s.reading(), sensor, scheduled);
}

// Angular velocity (3), proper acceleration (3) and, where the sensor measures it, the orientation (4).
class ImuObservation final : public ObservationOf<float> {
 public:
  ImuObservation(TermReader& reader, TaskContext& context)
      : sensor_(find_sensor_of_class(reader, context, "imu", "IMU")),
        size_(context.model.sensors[sensor_].sensor->reading().size()) {
    max_rate_ = reader.number("max_rate", 10, kPositive);
    max_acceleration_ = reader.number("max_acceleration", 50, kPositive);
    scheduled_ = read_timing(reader, context, sensor_);
  }

  std::vector<Interval> bounds() const override {
    std::vector<Interval> out(3, {-max_rate_, max_rate_});
    out.resize(6, {-max_acceleration_, max_acceleration_});
    out.resize(size_, {-1, 1});
    return out;
  }

  std::optional<size_t> sensor() const override { return sensor_; }
  // Zero before the first scheduled reading.
  void write(EnvState& env, AgentState&, Scratch&, float* out) const override {
    std::array<double, 10> values{};
    if (scheduled_)
      std::memcpy(values.data(), reading_of(env.simulation, sensor_).data(), size_ * sizeof(double));
    else
      env.simulation.read_now(sensor_, reinterpret_cast<std::byte*>(values.data()), nullptr);
    for (size_t i = 0; i < size_; ++i) out[i] = static_cast<float>(values[i]);
  }

 private:
  size_t sensor_, size_;
  double max_rate_ = 0, max_acceleration_ = 0;
  bool scheduled_ = false;
};
template std::unique_ptr<const Observation> term<ImuObservation>(TermReader&, TaskContext&);

// East, north, up from the reference, and whether there is a fix. Degrees in float32 would lose 0.4 m.
class GnssObservation final : public ObservationOf<float> {
 public:
  GnssObservation(TermReader& reader, TaskContext& context)
      : sensor_(find_sensor_of_class(reader, context, "gnss", "GNSS receiver")) {
    max_ = reader.number("max", 1000, kPositive);
    max_height_ = reader.number("max_height", 100, kPositive);
    scheduled_ = read_timing(reader, context, sensor_);
  }

  std::vector<Interval> bounds() const override {
    return {{-max_, max_}, {-max_, max_}, {-max_height_, max_height_}, {0, 1}};
  }

  std::optional<size_t> sensor() const override { return sensor_; }
  // All zero without a fix, and before the first scheduled reading.
  void write(EnvState& env, AgentState&, Scratch&, float* out) const override {
    std::array<double, kValues> values{};
    std::array<uint8_t, kValues> valid{};
    if (scheduled_) {
      std::memcpy(values.data(), reading_of(env.simulation, sensor_).data(), sizeof values);
      std::ranges::copy(env.simulation.reading_valid(sensor_), valid.begin());
    } else {
      env.simulation.read_now(sensor_, reinterpret_cast<std::byte*>(values.data()), valid.data());
    }
    for (size_t i = 0; i < 3; ++i) out[i] = static_cast<float>(values[kEast + i]);
    out[3] = valid[0] != 0 ? 1.0F : 0.0F;
  }

 private:
  static constexpr size_t kEast = 3, kValues = 8;  // of the reading (sensor/gnss.cpp)
  size_t sensor_;
  double max_ = 0, max_height_ = 0;
  bool scheduled_ = false;
};
template std::unique_ptr<const Observation> term<GnssObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
