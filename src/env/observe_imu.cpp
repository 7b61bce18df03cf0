#include <array>
#include <cstring>

#include "env/observe_terms.h"
#include "model/sensor_layout.h"

namespace mvsim {
namespace {

// Angular velocity (3), proper acceleration (3) and, where the sensor measures it, the orientation (4).
class ImuObservation final : public ObservationOf<float> {
 public:
  ImuObservation(TermReader& reader, TaskContext& context)
      : sensor_(find_sensor_of_class(reader, context, "imu", "IMU")),
        size_(context.model.sensors[sensor_].sensor->reading().size()) {
    max_rate_ = reader.number("max_rate", 10, kPositive);
    max_acceleration_ = reader.number("max_acceleration", 50, kPositive);
    scheduled_ = reader.choice("timing", {"control", "sensor"}) == 1;
    if (scheduled_) context.needs.scheduled_sensors.push_back(sensor_);
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

}  // namespace

std::unique_ptr<const Observation> make_imu_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<ImuObservation>(reader, context);
}

}  // namespace mvsim
