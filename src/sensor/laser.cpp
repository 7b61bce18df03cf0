// Sensor class `laser`: a fan of rays. It casts them in the plane (Lidar2d), exact against grids, static
// outlines and moving outlines; or with <raytrace_3d> in the scene that eyes see (Laser3d).
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/vector_kernels.h"
#include "raycast/beams.h"
#include "raycast/grid_field.h"
#include "sensor/ray_sensor.h"
#include "sensor/sensors.h"
#include "sensor/view.h"

namespace mvsim {
namespace {

struct LaserTags {
  Pose3 pose;  // T_vehicle_sensor
  double fov = 0;
  int rays = 0;
  float max_range = 0;
  bool bodies_visible = true, raytrace_3d = false, ignore_parent_body = false;
  std::array<double, 2> noise{};  // standard deviations by kNoise, m and rad
};

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
  LaserTags tags;
  static constexpr std::string_view kOthers[] = {"pose",          "pose_3d",         "height",
                                                 "sensor_period", "range_std_noise", "angle_std_noise_deg"};
  read_params(spec.params, kShape, shape, kOthers, warnings);
  read_params(spec.params, kNoise, tags.noise);
  const NamedText* const ignore = spec.params.find("ignore_parent_body");
  if (ignore && shape[kRaytrace3d] == 0)
    warnings.push_back(ignore->where.text() +
                       ": <ignore_parent_body> has no effect: without <raytrace_3d> a lidar never sees its "
                       "own vehicle");
  tags.pose = read_mount(spec.params, {.z = 0.05}, "height");
  tags.fov = shape[kFov];
  tags.rays = static_cast<int>(shape[kRays]);
  tags.max_range = static_cast<float>(shape[kMaxRange]);
  tags.bodies_visible = shape[kBodiesVisible] != 0;
  tags.raytrace_3d = shape[kRaytrace3d] != 0;
  tags.ignore_parent_body = shape[kIgnoreParentBody] != 0;
  return tags;
}

// Makes the table of beams; its memory is counted first.
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

// A laser that casts in the scene has no noise of angles.
SensorInfo info_of(const LaserTags& tags) {
  const size_t noises = tags.raytrace_3d ? 1 : 2;
  return {.mount = tags.pose,
          .params = std::span(kNoise).first(noises),
          .nominal_params = {tags.noise.begin(), tags.noise.begin() + noises},
          .reading = {.dtype = DType::kFloat32,
                      .shape = {static_cast<size_t>(tags.rays)},
                      .low = 0,
                      .high = tags.max_range,
                      .unit = "m"}};
}

// Calls use(first ray, normal deviates of the rays from there on). Noise is drawn for each of the `rays`, hit
// or not, so that the stream does not depend on the scene. Without noise, none is drawn.
template <typename Use>
void for_each_deviate(size_t rays, double sigma, RandomStream& random, Use use) {
  constexpr size_t kAtOnce = 256;
  double deviates[kAtOnce] = {};
  for (size_t begin = 0; begin < rays; begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, rays - begin);
    if (sigma > 0) random.normals({deviates, count});
    use(begin, std::span<const double>(deviates, count));
  }
}

// -- in the plane

class Lidar2d final : public RaySensor {
 public:
  Lidar2d(const LaserTags& tags, BeamTable beams)
      : RaySensor(info_of(tags), angles_of(beams)), tags_(tags), beams_(std::move(beams)) {}

  void add_config(ArchiveHasher& hasher) const override {
    hasher(tags_.pose, tags_.fov, tags_.rays, tags_.max_range, tags_.bodies_visible, tags_.noise);
  }

  void read(const SensorOwn& own, const SensorScene& scene, const SensorMount& mount, float* values,
            uint8_t* valid) const override {
    const double* const p = own.params;
    RandomStream& random = *own.noise;
    const Pose3 &v = mount.T_world_vehicle, &pose = tags_.pose;
    const float max_range = tags_.max_range;
    const Pose2 T_world_sensor = compose({v.x, v.y, v.yaw}, {pose.x, pose.y, pose.yaw});
    const auto n = static_cast<size_t>(beams_.count());
    const auto directions = std::make_unique_for_overwrite<float[]>(2 * n);
    float *dx = directions.get(), *dy = dx + n;
    // "no return" is beyond the range, so that a hit at exactly max_range still counts
    const float no_return = 2 * max_range;
    std::fill_n(values, n, no_return);

    for (const PlacedGrid& grid : scene.grids) {
      const Pose2& g = grid.T_world_grid;
      const Vec2 origin = transform_back(g, {T_world_sensor.x, T_world_sensor.y});
      beams_.directions(T_world_sensor.yaw - g.yaw, dx, dy);
      if (p[kAngleNoise] > 0)
        for_each_deviate(n, p[kAngleNoise], random, [&](size_t begin, std::span<const double> deviates) {
          turn_directions(p[kAngleNoise], deviates, dx + begin, dy + begin);
        });
      cast_grid(*grid.field, origin.x, origin.y, dx, dy, static_cast<int>(n), max_range, values);
    }
    if (tags_.bodies_visible && !(scene.static_shapes->empty() && scene.moving.empty())) {
      const Fan fan = beams_.fan(T_world_sensor, dx, dy);
      scene.static_shapes->cast(fan, max_range, values);
      PolygonRow row(fan, max_range, values);
      for (const MovingShape& shape : scene.moving)
        if (shape.body != mount.body)
          row.add({shape.vertices, static_cast<size_t>(shape.count)}, {shape.center, shape.radius});
      row.cast();
    }
    if (valid) mark_hits({values, n}, no_return, valid);
    for_each_deviate(n, p[kRangeNoise], random, [&](size_t begin, std::span<const double> deviates) {
      disturb_ranges(p[kRangeNoise], deviates, no_return, max_range, values + begin);
    });
  }

 private:
  LaserTags tags_;
  BeamTable beams_;
};

// -- in the scene: the fan lies in the xy plane of the sensor, which leans with its vehicle

constexpr double kNear = 0.01;  // m, as MVSim's near plane

View view_of(const LaserTags& tags, const BeamTable& beams) {
  View view;
  view.content = ViewContent::kDepth;
  view.width = tags.rays, view.height = 1;
  view.near = std::min(kNear, 0.5 * static_cast<double>(tags.max_range));
  view.far = static_cast<double>(tags.max_range);
  view.hides_vehicle = tags.ignore_parent_body;
  view.turns = false;
  view.rings = {sin_cos(0)};
  for (int i = 0; i < beams.count(); ++i) view.columns.push_back(sin_cos(beams.angle(i)));
  return view;
}

class Laser3d final : public RaySensor {
 public:
  Laser3d(const LaserTags& tags, const BeamTable& beams)
      : RaySensor(info_of(tags), angles_of(beams), std::make_shared<const View>(view_of(tags, beams))),
        tags_(tags) {}
  void add_config(ArchiveHasher& hasher) const override {
    hasher(true, tags_.pose, tags_.fov, tags_.rays, tags_.max_range, tags_.ignore_parent_body,
           tags_.noise[kRangeNoise]);  // true: not a laser of the plane
  }

  // Noise that would take a range out of bounds leaves it as it is.
  void read_view(const SensorOwn& own, const float* seen, float* ranges, uint8_t* valid) const override {
    const double sigma = own.params[kRangeNoise], high = static_cast<double>(tags_.max_range);
    const auto disturb = [&](size_t begin, std::span<const double> deviates) {
      for (size_t i = begin; i < begin + deviates.size(); ++i) {
        const auto range = static_cast<double>(seen[i]), noisy = range + sigma * deviates[i - begin];
        const bool hit = range > 0 && range < high;
        const double kept = noisy > 0 && noisy <= high ? noisy : range;
        ranges[i] = hit ? static_cast<float>(kept) : tags_.max_range;
        if (valid) valid[i] = hit && kept < high ? 1 : 0;
      }
    };
    for_each_deviate(static_cast<size_t>(tags_.rays), sigma, *own.noise, disturb);
  }

 private:
  LaserTags tags_;
};

}  // namespace

template <>
std::unique_ptr<const Sensor> compile_sensor<class Laser>(const SensorSpec& spec, LoadGuard& guard,
                                                          std::vector<std::string>& warnings) {
  const LaserTags tags = read_tags(spec, warnings);
  BeamTable beams = laser_beams(spec, tags, guard);
  if (tags.raytrace_3d) return std::make_unique<Laser3d>(tags, beams);
  return std::make_unique<Lidar2d>(tags, std::move(beams));
}

}  // namespace mvsim
