// Sensor class `laser` in the plane: a 2D lidar, exact against grids, static outlines and moving outlines.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/archive.h"
#include "base/vector_kernels.h"
#include "raycast/grid_field.h"
#include "sensor/laser.h"
#include "sensor/ray_sensor.h"

namespace mvsim {
namespace {

enum { kRangeNoise, kAngleNoise };

// All that a <sensor> says of it.
struct LidarConfig {
  Pose3 pose;  // T_vehicle_sensor
  double fov = 0;
  int rays = 0;
  float max_range = 0;
  bool bodies_visible = true;
  std::array<double, 2> noise{};
};

template <typename Archive>
void visit(Archive& archive, const LidarConfig& config) {
  const auto& [pose, fov, rays, max_range, bodies_visible, noise] = config;
  archive(pose, fov, rays, max_range, bodies_visible, noise);
}

SensorInfo info_of(const LidarConfig& config, const LaserTags& tags) {
  return {.mount = config.pose,
          .params = laser_noise_params(),
          .nominal_params = {config.noise.begin(), config.noise.end()},
          .reading = laser_reading(tags)};
}

class Lidar2d final : public RaySensor {
 public:
  Lidar2d(const LidarConfig& config, const LaserTags& tags, BeamTable beams)
      : RaySensor(info_of(config, tags), angles_of(beams)), config_(config), beams_(std::move(beams)) {}

  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  void read(const SensorOwn& own, const SensorScene& scene, const SensorMount& mount, float* values,
            uint8_t* valid) const override {
    const double* const p = own.params;
    RandomStream& random = *own.noise;
    const Pose3 &v = mount.T_world_vehicle, &pose = config_.pose;
    const float max_range = config_.max_range;
    const Pose2 T_world_sensor = compose({v.x, v.y, v.yaw}, {pose.x, pose.y, pose.yaw});
    const auto n = static_cast<size_t>(beams_.count());
    const auto directions = std::make_unique_for_overwrite<float[]>(2 * n);
    float *dx = directions.get(), *dy = dx + n;
    // "no return" is beyond the range, so that a hit at exactly max_range still counts
    const float no_return = 2 * max_range;
    std::fill_n(values, n, no_return);

    for (const PlacedGrid& grid : scene.grids) {
      const Pose2& g = grid.T_world_grid;
      const Vec2 origin = Rotation2(g.yaw).unrotate({T_world_sensor.x - g.x, T_world_sensor.y - g.y});
      beams_.directions(T_world_sensor.yaw - g.yaw, dx, dy);
      if (p[kAngleNoise] > 0)
        for_each_deviate(p[kAngleNoise], random, [&](size_t begin, std::span<const double> deviates) {
          turn_directions(p[kAngleNoise], deviates, dx + begin, dy + begin);
        });
      cast_grid(*grid.field, origin.x, origin.y, dx, dy, static_cast<int>(n), max_range, values);
    }
    if (config_.bodies_visible && !(scene.static_shapes->empty() && scene.moving.empty())) {
      const Fan fan = beams_.fan(T_world_sensor, dx, dy);
      scene.static_shapes->cast(fan, max_range, values);
      for (const MovingShape& shape : scene.moving) {
        if (shape.body == mount.body) continue;
        const double dx_center = shape.center.x - T_world_sensor.x,
                     dy_center = shape.center.y - T_world_sensor.y;
        const double reach = max_range + shape.radius;
        if (dx_center * dx_center + dy_center * dy_center > reach * reach) continue;
        cast_polygon(fan, {shape.vertices, static_cast<size_t>(shape.count)}, max_range, values);
      }
    }
    if (valid) mark_hits({values, n}, no_return, valid);
    for_each_deviate(p[kRangeNoise], random, [&](size_t begin, std::span<const double> deviates) {
      disturb_ranges(p[kRangeNoise], deviates, no_return, max_range, values + begin);
    });
  }

 private:
  // Noise is drawn for every ray, hit or not, so that the stream does not depend on the scene: calls
  // use(first ray, normal deviates of the rays from there on). Without noise, none is drawn.
  template <typename Use>
  void for_each_deviate(double sigma, RandomStream& random, Use use) const {
    constexpr size_t kAtOnce = 256;
    double deviates[kAtOnce] = {};
    const auto size = static_cast<size_t>(beams_.count());
    for (size_t begin = 0; begin < size; begin += kAtOnce) {
      const size_t count = std::min(kAtOnce, size - begin);
      if (sigma > 0) random.normals({deviates, count});
      use(begin, std::span<const double>(deviates, count));
    }
  }

  LidarConfig config_;
  BeamTable beams_;
};

}  // namespace

std::unique_ptr<const Sensor> make_lidar2d(const LaserTags& tags, BeamTable beams) {
  const LidarConfig config{.pose = tags.pose,
                           .fov = tags.fov,
                           .rays = tags.rays,
                           .max_range = static_cast<float>(tags.max_range),
                           .bodies_visible = tags.bodies_visible,
                           .noise = {tags.range_noise, tags.angle_noise}};
  return std::make_unique<Lidar2d>(config, tags, std::move(beams));
}

}  // namespace mvsim
