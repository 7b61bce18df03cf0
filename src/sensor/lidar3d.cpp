// Sensor class `lidar3d`: rings of rays all around, cast exactly; the whole turn at one instant.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "base/archive.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"

namespace mvsim {
namespace {

enum { kNoise };
constexpr ParamInfo kNoiseParams[] = {{.name = "range_std_noise", .fallback = 0.01, .min = 0, .unit = "m"}};

enum {
  kRings,
  kFov,
  kColumns,
  kMinRange,
  kMaxRange,
  kIgnoreParent,
  kIntensity,
  kHorizontalFactor,
  kVerticalFactor,
  kVerticalDepth,
  kHorizontalDepth,
  kCount
};
constexpr int kMaxRings = 1000;
// The last four belong to how MVSim samples depth images; rays are exact here.
constexpr std::array<ParamInfo, kCount> kParams = {{
    {.name = "vert_nrays", .fallback = 16, .min = 2, .max = kMaxRings, .type = ParamType::kInt},
    {.name = "vert_fov_degrees",
     .fallback = 30 * kDegree,
     .min = 0,
     .max = kPi,
     .type = ParamType::kDegrees,
     .is_min_excluded = true},
    {.name = "horz_nrays", .fallback = 180, .min = 2, .max = 1e5, .type = ParamType::kInt},
    distance_param("min_range", 0.01),
    distance_param("max_range", 80),
    flag_param("ignore_parent_body", false),
    flag_param("generate_intensity", true),
    positive_param("horz_resolution_factor", 1),
    positive_param("vert_resolution_factor", 1),
    distance_param("max_vert_relative_depth_to_interpolate", 0.3),
    distance_param("max_horz_relative_depth_to_interpolate", 0.1),
}};
constexpr std::string_view kAngles = "vertical_ray_angles";

struct Lidar3dConfig {
  Pose3 pose;  // T_vehicle_sensor
  std::array<double, kCount> values{};
  std::array<double, 1> noise{};
  std::vector<double> elevations;  // rad, ascending
};

// One elevation for each ring, all different, in any order.
std::vector<double> read_angles(const NamedText& text, size_t rings) {
  std::vector<double> angles = parse_numbers(text, 2, kMaxRings, "elevations in degrees, one for each ring");
  std::sort(angles.begin(), angles.end());
  const bool is_twice = std::adjacent_find(angles.begin(), angles.end()) != angles.end();
  if (angles.size() != rings || is_twice)
    throw WorldFileError(text.where, "<vertical_ray_angles>: found " + std::to_string(angles.size()) +
                                         " angles" + (is_twice ? ", one of them twice" : "") + ", expected " +
                                         std::to_string(rings) + " different ones, as <vert_nrays> says");
  for (double& angle : angles) {
    check_range({.name = kAngles, .min = -90, .max = 90, .unit = "deg"}, angle, text.where);
    angle *= kDegree;
  }
  return angles;
}

Lidar3dConfig read_config(const SensorSpec& spec, std::vector<std::string>& warnings) {
  std::vector<std::string_view> others(std::begin(kCommonSensorTags), std::end(kCommonSensorTags));
  others.insert(others.end(), {kAngles, kNoiseParams[kNoise].name});
  Lidar3dConfig config;
  read_params(spec.params, kParams, config.values, others, warnings);
  read_params(spec.params, kNoiseParams, config.noise);
  config.pose = read_mount(spec.params, {});
  const auto rings = static_cast<size_t>(config.values[kRings]);
  if (const NamedText* const angles = spec.params.find(kAngles))
    config.elevations = read_angles(*angles, rings);
  else
    for (size_t i = 0; i < rings; ++i)
      config.elevations.push_back(config.values[kFov] *
                                  (static_cast<double>(i) / static_cast<double>(rings - 1) - 0.5));
  return config;
}

std::vector<ViewImage> images_of(const Lidar3dConfig& config) {
  View view;
  view.height = static_cast<int>(config.elevations.size());
  view.width = static_cast<int>(config.values[kColumns]);
  view.near = config.values[kMinRange], view.far = config.values[kMaxRange];
  view.hides_vehicle = config.values[kIgnoreParent] != 0;
  for (const double elevation : config.elevations) view.rings.push_back(sin_cos(elevation));
  for (int c = 0; c < view.width; ++c) view.columns.push_back(sin_cos(-kPi + 2 * kPi * c / view.width));
  std::vector<ViewImage> images;
  const auto add = [&](std::string_view name, ViewContent content) {
    view.content = content;
    images.push_back({name, image_reading(content, view.width, view.height, view.far), view});
  };
  add("range_image", ViewContent::kDepth);
  if (config.values[kIntensity] != 0) add("intensity", ViewContent::kIntensity);
  add("labels", ViewContent::kLabels);
  return images;
}

}  // namespace

// Images [rings, columns], ring 0 the lowest, column 0 behind, counter-clockwise: `range_image` (0: no
// return), `intensity` if it is made, `labels`.
class Lidar3d final : public ViewSensor {
 public:
  explicit Lidar3d(const Lidar3dConfig& config)
      : ViewSensor({.mount = config.pose,
                    .params = kNoiseParams,
                    .nominal_params = {config.noise.begin(), config.noise.end()},
                    .reading = {}},
                   images_of(config)),
        config_(config) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  // A return that noise takes out of the range is none.
  ImageFinish finish_of(size_t image) const override {
    if (images()[image].view.content != ViewContent::kDepth) return {};
    return {ImageFinish::kDistanceNoise, static_cast<float>(config_.values[kMinRange]),
            static_cast<float>(config_.values[kMaxRange]), false};
  }

 private:
  Lidar3dConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<Lidar3d>(const SensorSpec& spec, LoadGuard& guard,
                                                      std::vector<std::string>& warnings) {
  const Lidar3dConfig config = read_config(spec, warnings);
  guard.take(3 * sizeof(SinCos) * config.values[kColumns], spec.params.where, "the rays of a lidar");
  auto lidar = std::make_unique<const Lidar3d>(config);
  check_view(spec, lidar->images().front().view, "min_range");
  return lidar;
}

}  // namespace mvsim
