// Sensor class `imu`: rate gyro and accelerometer with white noise and a bias that walks, and on request the
// orientation. Its mount turns what it measures; its distance to the reference point is no lever arm.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/archive.h"
#include "base/geometry3.h"
#include "sensor/sensor.h"
#include "sensor/sensors.h"

namespace mvsim {
namespace {

enum { kGyroWhite, kAccelerometerWhite, kGyroWalk, kAccelerometerWalk, kOrientationNoise, kNoiseCount };
constexpr ParamInfo kNoise[] = {
    {.name = "angular_velocity_white_noise_std_noise", .fallback = 2e-4, .min = 0, .unit = "rad/s"},
    {.name = "linear_acceleration_white_noise_std_noise", .fallback = 0.017, .min = 0, .unit = "m/s2"},
    {.name = "angular_velocity_random_walk_std_noise", .fallback = 0, .min = 0, .unit = "rad/s/sqrt(s)"},
    {.name = "linear_acceleration_random_walk_std_noise", .fallback = 0, .min = 0, .unit = "m/s2/sqrt(s)"},
    {.name = "orientation_std_noise", .fallback = 0.005, .min = 0, .unit = "rad"},
};
constexpr ParamInfo kOrientation = {.name = "measure_orientation", .fallback = 0, .type = ParamType::kBool};

// Names of older world files, each with its present name.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"angular_velocity_std_noise", kNoise[kGyroWhite].name},
    {"linear_acceleration_std_noise", kNoise[kAccelerometerWhite].name},
};

struct ImuConfig {
  Pose3 pose;  // T_vehicle_sensor
  std::array<double, kNoiseCount> noise{};
  bool measures_orientation = false;
};

ImuConfig read_config(const SensorSpec& spec, std::vector<std::string>& warnings) {
  ParamSet set = spec.params;
  for (NamedText& value : set.values)
    for (const auto& [old_name, name] : kAliases)
      if (value.name == old_name) value.name = name;
  std::vector<std::string_view> others(std::begin(kCommonSensorTags), std::end(kCommonSensorTags));
  others.push_back(kOrientation.name);
  ImuConfig config;
  read_params(set, kNoise, config.noise, others, warnings);
  if (const NamedText* const given = set.find(kOrientation.name))
    config.measures_orientation = parse_bool(*given);
  config.pose = read_mount(set, {});
  return config;
}

SensorInfo info_of(const ImuConfig& config) {
  return {.mount = config.pose,
          .params = kNoise,
          .nominal_params = {config.noise.begin(), config.noise.end()},
          .reading = {.dtype = DType::kFloat64,
                      .shape = {config.measures_orientation ? 10U : 6U},
                      .low = -kMaxNumber,
                      .high = kMaxNumber,
                      .unit = config.measures_orientation ? "rad/s, m/s2, 1" : "rad/s, m/s2"}};
}

}  // namespace

// Its reading (float64), in its own frame: angular velocity x, y, z; proper acceleration x, y, z; and, where
// it measures orientation, the quaternion w, x, y, z from there to east, north, up (without <georeference> to
// the world's frame).
class Imu final : public StateSensor {
 public:
  explicit Imu(const ImuConfig& config)
      : StateSensor(info_of(config)),
        config_(config),
        mount_({.yaw = config.pose.yaw, .pitch = config.pose.pitch, .roll = config.pose.roll}) {}

  size_t memory_size() const override { return kMemory; }
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values,
            uint8_t* valid) const override {
    const double elapsed = std::max(0.0, motion.time - own.memory[kLastTime]);
    own.memory[kLastTime] = motion.time;
    double out[10];
    measure(into_mount({0, 0, motion.twist.omega}), own, kGyroWhite, kGyroWalk, elapsed, kGyroBias, out);
    measure(into_mount(proper_acceleration(motion)), own, kAccelerometerWhite, kAccelerometerWalk, elapsed,
            kAccelerometerBias, out + 3);
    if (config_.measures_orientation) {
      const Quaternion q = orientation(own, motion);
      std::copy_n(std::begin({q.w, q.x, q.y, q.z}), 4, out + 6);
    }
    std::memcpy(values, out, reading().bytes());
    if (valid) std::fill_n(valid, reading().size(), uint8_t{1});
  }

 private:
  enum { kGyroBias, kAccelerometerBias = 3, kLastTime = 6, kMemory };

  // Returns the acceleration of the reference point minus gravity, in the vehicle's frame.
  static Vec3 proper_acceleration(const BodyMotion& motion) {
    const Frame3 vehicle({.yaw = motion.pose.yaw, .pitch = motion.pose.pitch, .roll = motion.pose.roll});
    const Vec3 in_world{motion.acceleration.x, motion.acceleration.y, motion.gravity};
    return {dot(vehicle.x, in_world), dot(vehicle.y, in_world), dot(vehicle.z, in_world)};
  }

  Vec3 into_mount(Vec3 v) const { return {dot(mount_.x, v), dot(mount_.y, v), dot(mount_.z, v)}; }

  // Truth, bias and white noise of three axes. The bias is a random walk over the time since the last
  // reading: its variance after t seconds is walk^2 t, whatever the period.
  static void measure(Vec3 truth, const SensorOwn& own, size_t white, size_t walk, double elapsed,
                      size_t bias, double* out) {
    const double step = own.params[walk] * std::sqrt(elapsed);
    const double axes[] = {truth.x, truth.y, truth.z};
    for (size_t i = 0; i < 3; ++i) {
      if (step > 0) own.memory[bias + i] += step * own.noise->normal();
      out[i] = axes[i] + own.memory[bias + i];
      if (own.params[white] > 0) out[i] += own.params[white] * own.noise->normal();
    }
  }

  Quaternion orientation(const SensorOwn& own, const BodyMotion& motion) const {
    const Quaternion R_enu_world = rotation_of({.yaw = motion.site ? motion.site->rotation : 0});
    const Quaternion truth = R_enu_world * rotation_of(motion.pose) * rotation_of(config_.pose);
    const double sigma = own.params[kOrientationNoise];
    if (!(sigma > 0)) return canonical(truth);
    const double x = sigma * own.noise->normal(), y = sigma * own.noise->normal(),
                 z = sigma * own.noise->normal();
    return canonical(truth * exp_rotation({x, y, z}));
  }

  ImuConfig config_;
  Frame3 mount_;  // turned as the mount is, at the origin
};

template <>
std::unique_ptr<const Sensor> compile_sensor<Imu>(const SensorSpec& spec, LoadGuard& /*guard*/,
                                                  std::vector<std::string>& warnings) {
  return std::make_unique<Imu>(read_config(spec, warnings));
}

}  // namespace mvsim
