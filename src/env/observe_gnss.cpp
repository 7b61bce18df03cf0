#include <algorithm>
#include <array>
#include <cstring>

#include "env/observe_terms.h"
#include "model/sensor_layout.h"

namespace mvsim {
namespace {

// East, north, up from the reference (degrees would lose 0.4 m in float32), and whether there is a fix.
class GnssObservation final : public ObservationOf<float> {
 public:
  GnssObservation(TermReader& reader, TaskContext& context)
      : sensor_(find_sensor_of_class(reader, context, "gnss", "GNSS receiver")) {
    max_ = reader.number("max", 1000, kPositive);
    max_height_ = reader.number("max_height", 100, kPositive);
    scheduled_ = reader.choice("timing", {"control", "sensor"}) == 1;
    if (scheduled_) context.needs.scheduled_sensors.push_back(sensor_);
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

}  // namespace

std::unique_ptr<const Observation> make_gnss_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<GnssObservation>(reader, context);
}

}  // namespace mvsim
