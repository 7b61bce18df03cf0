#include "sensor/laser.h"

#include <array>
#include <utility>

namespace mvsim {
namespace {

enum { kRangeNoise, kAngleNoise };
constexpr ParamInfo kNoise[] = {
    {.name = "range_std_noise", .fallback = 0.01, .min = 0, .unit = "m"},
    {.name = "angle_std_noise_deg",
     .fallback = 0.01 * kDegree,
     .min = 0,
     .max = 2 * kPi,
     .type = ParamType::kDegrees},
};

enum { kFov, kRays, kMaxRange, kBodiesVisible, kRaytrace3d, kIgnoreParentBody };
constexpr ParamInfo kShape[] = {
    {.name = "fov_degrees",
     .fallback = kPi,
     .min = 0,
     .max = 2 * kPi,
     .type = ParamType::kDegrees,
     .is_min_excluded = true},
    {.name = "nrays", .fallback = 181, .min = 2, .max = 1e6, .type = ParamType::kInt},
    {.name = "max_range", .fallback = 80, .min = 0, .max = 1e5, .is_min_excluded = true, .unit = "m"},
    {.name = "bodies_visible", .fallback = 1, .type = ParamType::kBool},
    {.name = "raytrace_3d", .fallback = 0, .type = ParamType::kBool},
    {.name = "ignore_parent_body", .fallback = 0, .type = ParamType::kBool},
};

LaserTags read_tags(const SensorSpec& spec, std::vector<std::string>& warnings) {
  std::array<double, std::size(kShape)> shape;
  std::array<double, std::size(kNoise)> noise;
  static constexpr std::string_view kOthers[] = {"pose",          "pose_3d",         "height",
                                                 "sensor_period", "range_std_noise", "angle_std_noise_deg"};
  read_params(spec.params, kShape, shape, kOthers, warnings);
  read_params(spec.params, kNoise, noise);
  const NamedText* const ignore = spec.params.find("ignore_parent_body");
  if (ignore && shape[kRaytrace3d] == 0)
    warnings.push_back(ignore->where.text() +
                       ": <ignore_parent_body> has no effect: without <raytrace_3d> a lidar never sees its "
                       "own vehicle");
  return {.pose = read_mount(spec.params, {.z = 0.05}, "height"),
          .fov = shape[kFov],
          .rays = static_cast<int>(shape[kRays]),
          .max_range = shape[kMaxRange],
          .bodies_visible = shape[kBodiesVisible] != 0,
          .raytrace_3d = shape[kRaytrace3d] != 0,
          .ignore_parent_body = shape[kIgnoreParentBody] != 0,
          .range_noise = noise[kRangeNoise],
          .angle_noise = noise[kAngleNoise]};
}

}  // namespace

std::span<const ParamInfo> laser_noise_params() {
  return kNoise;
}

BeamTable laser_beams(const SensorSpec& spec, const LaserTags& tags, LoadGuard& guard) {
  // angle, cosine, sine; a reading and its copies; in 3D the directions of its view again
  const double ray_bytes = tags.raytrace_3d ? 96 : 48;
  const NamedText* rays = spec.params.find("nrays");
  guard.take(tags.rays * ray_bytes, rays ? rays->where : spec.params.where, "<nrays>: the sensor");
  return {tags.rays, tags.fov};
}

std::vector<double> angles_of(const BeamTable& beams) {
  std::vector<double> angles(static_cast<size_t>(beams.count()));
  for (int i = 0; i < beams.count(); ++i) angles[static_cast<size_t>(i)] = beams.angle(i);
  return angles;
}

ReadingSpec laser_reading(const LaserTags& tags) {
  return {.dtype = DType::kFloat32,
          .shape = {static_cast<size_t>(tags.rays)},
          .low = 0,
          .high = static_cast<float>(tags.max_range),
          .unit = "m"};
}

template <>
std::unique_ptr<const Sensor> compile_sensor<class Laser>(const SensorSpec& spec, LoadGuard& guard,
                                                          std::vector<std::string>& warnings) {
  const LaserTags tags = read_tags(spec, warnings);
  BeamTable beams = laser_beams(spec, tags, guard);
  return tags.raytrace_3d ? make_laser3d(tags, beams) : make_lidar2d(tags, std::move(beams));
}

}  // namespace mvsim
