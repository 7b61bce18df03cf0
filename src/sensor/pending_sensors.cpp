#include "sensor/pending_sensors.h"

#include <algorithm>
#include <array>

#include "sensor/sensors.h"

namespace mvsim {
namespace {

constexpr double kMaxSide = 16384, kMaxRange = 1e5, kMaxRings = 1000, kMaxColumns = 1e5;

constexpr ParamInfo pixels(std::string_view name) {
  return {.name = name, .min = 1, .max = kMaxSide, .type = ParamType::kInt};
}
constexpr ParamInfo length(std::string_view name, double fallback = 0) {
  return {.name = name, .fallback = fallback, .min = 0, .max = kMaxRange, .unit = "m"};
}
constexpr ParamInfo above_zero(std::string_view name) {
  return {.name = name, .fallback = 1, .min = 0, .open_min = true};
}
constexpr ParamInfo deviation(std::string_view name, std::string_view unit) {
  return {.name = name, .min = 0, .unit = unit};
}
constexpr ParamInfo flag(std::string_view name) {
  return {.name = name, .type = ParamType::kBool};
}
constexpr ParamInfo any(std::string_view name) {
  return {.name = name};
}

constexpr ParamInfo kCamera[] = {pixels("ncols"),  pixels("nrows"),  any("cx"),          any("cy"),
                                 above_zero("fx"), above_zero("fy"), length("clip_min"), length("clip_max")};

constexpr ParamInfo kRgbd[] = {flag("sense_depth"),
                               flag("sense_rgb"),
                               pixels("depth_ncols"),
                               pixels("depth_nrows"),
                               any("depth_cx"),
                               any("depth_cy"),
                               above_zero("depth_fx"),
                               above_zero("depth_fy"),
                               pixels("rgb_ncols"),
                               pixels("rgb_nrows"),
                               any("rgb_cx"),
                               any("rgb_cy"),
                               above_zero("rgb_fx"),
                               above_zero("rgb_fy"),
                               length("rgb_clip_min"),
                               length("rgb_clip_max"),
                               length("depth_clip_min"),
                               length("depth_clip_max"),
                               above_zero("depth_resolution"),
                               deviation("depth_noise_sigma", "m"),
                               flag("show_3d_pointcloud"),
                               flag("publish_ros_depth_image"),
                               flag("publish_ros_colored_pointcloud")};

enum { kRings };
constexpr ParamInfo kLidar3d[] = {
    {.name = "vert_nrays", .fallback = 16, .min = 2, .max = kMaxRings, .type = ParamType::kInt},
    {.name = "horz_nrays", .fallback = 180, .min = 2, .max = kMaxColumns, .type = ParamType::kInt},
    length("min_range"),
    length("max_range"),
    deviation("range_std_noise", "m"),
    {.name = "vert_fov_degrees", .min = 0, .max = kPi, .type = ParamType::kDegrees},
    above_zero("horz_resolution_factor"),
    above_zero("vert_resolution_factor"),
    length("max_vert_relative_depth_to_interpolate"),
    length("max_horz_relative_depth_to_interpolate"),
    flag("ignore_parent_body"),
    flag("generate_intensity")};

constexpr ParamInfo kImu[] = {deviation("angular_velocity_white_noise_std_noise", "rad/s"),
                              deviation("angular_velocity_std_noise", "rad/s"),
                              deviation("linear_acceleration_white_noise_std_noise", "m/s2"),
                              deviation("linear_acceleration_std_noise", "m/s2"),
                              deviation("angular_velocity_random_walk_std_noise", "rad/s/sqrt(s)"),
                              deviation("linear_acceleration_random_walk_std_noise", "m/s2/sqrt(s)"),
                              flag("measure_orientation"),
                              deviation("orientation_std_noise", "rad")};

constexpr ParamInfo kGnss[] = {deviation("horizontal_std_noise", "m"), deviation("vertical_std_noise", "m")};

constexpr Pose3 kForward{.z = 0.5, .yaw = -kPi / 2, .roll = -kPi / 2};  // z along the vehicle's x

constexpr auto kClasses = std::to_array<PendingSensorClass>({
    {"camera", kCamera, kForward},
    {"rgbd_camera", kRgbd, {.z = 0.5}},
    {"lidar3d", kLidar3d, {}},
    {"imu", kImu, {}},
    {"gnss", kGnss, {}},
});

// One elevation for each ring, all different.
void check_rings(const NamedText& text, double rings) {
  constexpr size_t kMost = static_cast<size_t>(kMaxRings);
  std::vector<double> angles = parse_numbers(text, 2, kMost, "elevations in degrees, one for each ring");
  std::sort(angles.begin(), angles.end());
  const bool is_twice = std::adjacent_find(angles.begin(), angles.end()) != angles.end();
  if (static_cast<double>(angles.size()) == rings && !is_twice) return;
  throw WorldFileError(text.where, "<vertical_ray_angles>: found " + std::to_string(angles.size()) +
                                       " angles" + (is_twice ? ", one of them twice" : "") + ", expected " +
                                       std::to_string(static_cast<int>(rings)) +
                                       " different ones, as <vert_nrays> says");
}

}  // namespace

std::span<const PendingSensorClass> pending_sensor_classes() {
  return kClasses;
}

Pose3 check_pending_sensor(const PendingSensorClass& sensor_class, const SensorSpec& spec,
                           std::vector<std::string>& warnings) {
  std::vector<double> values(sensor_class.params.size());
  std::vector<std::string_view> others(std::begin(kCommonSensorTags), std::end(kCommonSensorTags));
  if (sensor_class.name == "lidar3d") others.emplace_back("vertical_ray_angles");
  if (sensor_class.name == "rgbd_camera") others.emplace_back("relativePoseIntensityWRTDepth");
  read_params(spec.params, sensor_class.params, values, others, warnings);
  if (sensor_class.name == "lidar3d")
    if (const NamedText* angles = spec.params.find("vertical_ray_angles"))
      check_rings(*angles, values[kRings]);
  if (const NamedText* pose = spec.params.find("relativePoseIntensityWRTDepth"))
    parse_numbers(*pose, 6, 6, "6 numbers: x y z yaw pitch roll (m, degrees)");
  return read_mount(spec.params, sensor_class.mount);
}

}  // namespace mvsim
