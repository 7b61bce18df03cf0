// Sensor class `rgbd_camera`: a depth camera and a colour camera beside it. The sensor's frame is that of
// depth, x forward, y left, z up; both cameras look through optical frames, x right, y down, z forward.
#include <algorithm>
#include <array>
#include <memory>

#include "base/archive.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"

namespace mvsim {
namespace {

enum { kNoise };
constexpr ParamInfo kNoiseParams[] = {
    {.name = "depth_noise_sigma", .fallback = 0.001, .min = 0, .unit = "m"}};

enum {
  kDepthWidth,
  kDepthHeight,
  kDepthCx,
  kDepthCy,
  kDepthFx,
  kDepthFy,
  kRgbWidth,
  kRgbHeight,
  kRgbCx,
  kRgbCy,
  kRgbFx,
  kRgbFy,
  kDepthNear,
  kDepthFar,
  kRgbNear,
  kRgbFar,
  kSenseDepth,
  kSenseRgb,
  kResolution,
  kShowCloud,
  kPublishDepth,
  kPublishCloud,
  kCount
};
constexpr std::array<ParamInfo, kCount> kParams = {
    pixels_param("depth_ncols", 640),
    pixels_param("depth_nrows", 480),
    number_param("depth_cx", 320, "px"),
    number_param("depth_cy", 240, "px"),
    positive_param("depth_fx", 500, "px"),
    positive_param("depth_fy", 500, "px"),
    pixels_param("rgb_ncols", 640),
    pixels_param("rgb_nrows", 480),
    number_param("rgb_cx", 320, "px"),
    number_param("rgb_cy", 240, "px"),
    positive_param("rgb_fx", 500, "px"),
    positive_param("rgb_fy", 500, "px"),
    distance_param("depth_clip_min", 0.1),
    distance_param("depth_clip_max", 15),
    distance_param("rgb_clip_min", 0.01),
    distance_param("rgb_clip_max", 1e4),
    flag_param("sense_depth", true),
    flag_param("sense_rgb", true),
    positive_param("depth_resolution", 0.001, "m"),
    flag_param("show_3d_pointcloud", false),
    flag_param("publish_ros_depth_image", true),
    flag_param("publish_ros_colored_pointcloud", false),
};
constexpr std::string_view kRelativePose = "relativePoseIntensityWRTDepth";
constexpr Pose3 kOptical{.yaw = -kPi / 2, .roll = -kPi / 2};

struct RgbdConfig {
  Pose3 pose;                 // T_vehicle_sensor
  Pose3 rgb_pose = kOptical;  // T_sensor_rgb
  std::array<double, kCount> values{};
  std::array<double, 1> noise{};
};

RgbdConfig read_config(const SensorSpec& spec, std::vector<std::string>& warnings) {
  std::vector<std::string_view> others(std::begin(kCommonSensorTags), std::end(kCommonSensorTags));
  others.insert(others.end(), {kRelativePose, kNoiseParams[kNoise].name});
  RgbdConfig config;
  read_params(spec.params, kParams, config.values, others, warnings);
  read_params(spec.params, kNoiseParams, config.noise);
  config.pose = read_mount(spec.params, {.z = 0.5});
  if (const NamedText* const pose = spec.params.find(kRelativePose)) {
    const auto v = parse_numbers(*pose, 6, 6, "6 numbers: x y z yaw pitch roll (m, degrees)");
    config.rgb_pose = {v[0], v[1], v[2], v[3] * kDegree, v[4] * kDegree, v[5] * kDegree};
  }
  return config;
}

std::vector<ViewImage> images_of(const RgbdConfig& config) {
  const double* const v = config.values.data();
  const Pinhole depth(v + kDepthWidth, v[kDepthNear], v[kDepthFar]);
  const Pinhole rgb(v + kRgbWidth, v[kRgbNear], v[kRgbFar]);
  std::vector<ViewImage> images;
  const auto add = [&](std::string_view name, ViewContent content, const Pinhole& camera, const Pose3& pose) {
    images.push_back({name, image_reading(content, camera.width, camera.height, camera.far),
                      camera.view(content, Frame3(pose))});
  };
  const bool sees_color = v[kSenseRgb] != 0;
  if (v[kSenseDepth] != 0) add("depth", ViewContent::kDepth, depth, kOptical);
  if (sees_color) add("image", ViewContent::kColor, rgb, config.rgb_pose);
  add("labels", ViewContent::kLabels, sees_color ? rgb : depth, sees_color ? config.rgb_pose : kOptical);
  return images;
}

}  // namespace

// Images: `depth` (0 where nothing is within its clip planes), `image` (red, green, blue), each if it is
// sensed, and `labels`, seen by the colour camera if there is one.
class RgbdCamera final : public ViewSensor {
 public:
  explicit RgbdCamera(const RgbdConfig& config)
      : ViewSensor({.mount = config.pose,
                    .params = kNoiseParams,
                    .nominal_params = {config.noise.begin(), config.noise.end()},
                    .reading = {}},
                   images_of(config)),
        config_(config) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  // Noise that would take a value beyond the far plane is not added. A value that it takes below 0 is no
  // return.
  ImageFinish finish_of(size_t image) const override {
    if (images()[image].view.content != ViewContent::kDepth) return {};
    return {ImageFinish::kDistanceNoise, 0, static_cast<float>(config_.values[kDepthFar]), true};
  }

 private:
  RgbdConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<RgbdCamera>(const SensorSpec& spec, LoadGuard&,
                                                         std::vector<std::string>& warnings) {
  auto camera = std::make_unique<const RgbdCamera>(read_config(spec, warnings));
  for (const ViewImage& image : camera->images())
    check_view(spec, image.view, image.name == "depth" ? "depth_clip_min" : "rgb_clip_min");
  return camera;
}

}  // namespace mvsim
