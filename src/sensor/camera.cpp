// Sensor class `camera`: a pinhole camera without distortion. Its frame is optical: x right, y down, z
// forward.
#include <array>
#include <memory>

#include "base/archive.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"

namespace mvsim {
namespace {

enum { kWidth, kHeight, kCx, kCy, kFx, kFy, kNear, kFar, kCount };
constexpr std::array<ParamInfo, kCount> kParams = {
    pixels_param("ncols", 640),       pixels_param("nrows", 480),      number_param("cx", 320, "px"),
    number_param("cy", 240, "px"),    positive_param("fx", 500, "px"), positive_param("fy", 500, "px"),
    distance_param("clip_min", 0.01), distance_param("clip_max", 1e4),
};
// Looks forward, upright.
constexpr Pose3 kForward{.z = 0.5, .yaw = -kPi / 2, .roll = -kPi / 2};

struct CameraConfig {
  Pose3 pose;  // T_vehicle_sensor
  std::array<double, kCount> values{};
};

std::vector<ViewImage> images_of(const CameraConfig& config) {
  const Pinhole camera(config.values.data(), config.values[kNear], config.values[kFar]);
  const auto image = [&](std::string_view name, ViewContent content) {
    return ViewImage{name, image_reading(content, camera.width, camera.height), camera.view(content, {})};
  };
  return {image("image", ViewContent::kColor), image("labels", ViewContent::kLabels)};
}

}  // namespace

// Images: `image` (red, green, blue) and `labels`.
class Camera3d final : public ViewSensor {
 public:
  explicit Camera3d(const CameraConfig& config)
      : ViewSensor({.mount = config.pose, .params = {}, .nominal_params = {}, .reading = {}},
                   images_of(config)),
        config_(config) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

 private:
  CameraConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<Camera3d>(const SensorSpec& spec, LoadGuard&,
                                                       std::vector<std::string>& warnings) {
  CameraConfig config;
  read_params(spec.params, kParams, config.values, kCommonSensorTags, warnings);
  config.pose = read_mount(spec.params, kForward);
  auto camera = std::make_unique<const Camera3d>(config);
  check_view(spec, camera->images().front().view, "clip_min");
  return camera;
}

}  // namespace mvsim
