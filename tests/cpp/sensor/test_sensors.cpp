// Sensors of the tests alone, one of each kind, in place of src/sensor/more_sensors.cpp. Linked into
// mvsim_tests and into the test build of the Python module; no part of the package.
#include <algorithm>
#include <cstring>

#include "base/archive.h"
#include "raycast/beams.h"
#include "sensor/ray_sensor.h"
#include "sensor/sensor.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"

namespace mvsim {
namespace {

constexpr ParamInfo kNoise[] = {{.name = "std_noise", .fallback = 0, .min = 0, .unit = "m"}};
constexpr ParamInfo kGray[] = {{.name = "gray", .fallback = 100, .min = 0, .max = 255},
                               {.name = "grain", .fallback = 0, .type = ParamType::kBool}};

struct TestConfig {
  Pose3 mount;
  std::vector<double> params;
};

TestConfig read_config(const SensorSpec& spec, std::span<const ParamInfo> table,
                       std::vector<std::string>& warnings) {
  TestConfig config{read_mount(spec.params, {}), std::vector<double>(table.size())};
  read_params(spec.params, table, config.params, kCommonSensorTags, warnings);
  return config;
}

SensorInfo info_of(const TestConfig& config, std::span<const ParamInfo> table, ReadingSpec reading) {
  return {
      .mount = config.mount, .params = table, .nominal_params = config.params, .reading = std::move(reading)};
}

}  // namespace

// Float64: time, x with noise, vx, ax, and how many readings it has made before.
class TestMotion final : public StateSensor {
 public:
  explicit TestMotion(TestConfig config)
      : StateSensor(info_of(config, kNoise, {DType::kFloat64, {5}, -1000, 1000, "s, m, m/s, m/s2, "})),
        config_(std::move(config)) {}
  size_t memory_size() const override { return 1; }
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }
  void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values,
            uint8_t* valid) const override {
    const double x = motion.pose.x + own.params[0] * own.noise->normal();
    const double out[] = {motion.time, x, motion.twist.vx, motion.acceleration.x, own.memory[0]++};
    std::memcpy(values, out, sizeof out);
    if (valid) std::fill_n(valid, std::size(out), uint8_t{1});
  }

 private:
  TestConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<TestMotion>(const SensorSpec& spec, LoadGuard&,
                                                         std::vector<std::string>& warnings) {
  return std::make_unique<TestMotion>(read_config(spec, kNoise, warnings));
}

// A sensor with one ray ahead, up to 20 m, which sees static things only.
class TestRanger final : public RaySensor {
 public:
  explicit TestRanger(TestConfig config)
      : RaySensor(info_of(config, kNoise, {DType::kFloat32, {1}, 0, kMax, "m"}), {0.0}),
        config_(std::move(config)) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }
  void read(const SensorOwn&, const SensorScene& scene, const SensorMount& mount, float* ranges,
            uint8_t* valid) const override {
    const Pose3 &v = mount.T_world_vehicle, &m = config_.mount;
    float dx = 0, dy = 0;
    const BeamTable beam(1, 1);
    *ranges = kMax;
    scene.static_shapes->cast(beam.fan(compose({v.x, v.y, v.yaw}, {m.x, m.y, m.yaw}), &dx, &dy), kMax,
                              ranges);
    if (valid) *valid = *ranges < kMax;
  }

 private:
  static constexpr float kMax = 20;
  TestConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<TestRanger>(const SensorSpec& spec, LoadGuard&,
                                                         std::vector<std::string>& warnings) {
  return std::make_unique<TestRanger>(read_config(spec, kNoise, warnings));
}

// A picture of one gray; with grain, random bits are added.
class TestPlain final : public ViewSensor {
 public:
  explicit TestPlain(TestConfig config)
      : ViewSensor(info_of(config, kGray, {}), {{"image", {DType::kUint8, {2, 3, 3}, 0, 255, ""}, view()}}),
        config_(std::move(config)) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }
  ImageFinish finish_of(size_t) const override { return {.kind = ImageFinish::kOwn}; }
  void finish_own(size_t, const SensorOwn& own, std::byte* pixels) const override {
    for (size_t i = 0; i < reading().size(); ++i)
      pixels[i] = static_cast<std::byte>(static_cast<uint32_t>(own.params[0]) +
                                         (own.params[1] != 0 ? own.noise->below(50) : 0));
  }

 private:
  static View view() {
    View view;
    view.width = 3, view.height = 2;
    view.fx = view.fy = 2, view.cx = 1.5, view.cy = 1;
    return view;
  }

  TestConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<TestPlain>(const SensorSpec& spec, LoadGuard&,
                                                        std::vector<std::string>& warnings) {
  return std::make_unique<TestPlain>(read_config(spec, kGray, warnings));
}

// How bright the scene ahead is, 4 x 3 pixels.
class TestLuma final : public ViewSensor {
 public:
  explicit TestLuma(TestConfig config)
      : ViewSensor(info_of(config, {}, {}), {{"luma", image_reading(ViewContent::kIntensity, 4, 3), view()}}),
        config_(std::move(config)) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

 private:
  static View view() {
    const double values[] = {4, 3, 1.5, 1, 2, 2};
    return Pinhole(values, 0.01, 100)
        .view(ViewContent::kIntensity, Frame3(Pose3{.yaw = -kPi / 2, .roll = -kPi / 2}));
  }

  TestConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<TestLuma>(const SensorSpec& spec, LoadGuard&,
                                                       std::vector<std::string>& warnings) {
  return std::make_unique<TestLuma>(read_config(spec, {}, warnings));
}

std::span<const SensorClass> more_sensor_classes() {
  static constexpr SensorClass kClasses[] = {
      {"test_motion", compile_sensor<TestMotion>},
      {"test_ranger", compile_sensor<TestRanger>},
      {"test_plain", compile_sensor<TestPlain>},
      {"test_luma", compile_sensor<TestLuma>},
  };
  return kClasses;
}

}  // namespace mvsim
