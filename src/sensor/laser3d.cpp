// Sensor class `laser` with <raytrace_3d>: a fan of rays in the sensor's own xy plane, which leans with its
// vehicle, cast into the scene that eyes see. It reads as a 2D lidar does.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/archive.h"
#include "sensor/laser.h"
#include "sensor/ray_sensor.h"
#include "sensor/view.h"

namespace mvsim {
namespace {

constexpr double kNear = 0.01;  // m, as MVSim's near plane

struct Laser3dConfig {
  Pose3 pose;  // T_vehicle_sensor
  double fov = 0;
  int rays = 0;
  float max_range = 0;
  bool ignore_parent_body = false;
  std::array<double, 1> noise{};
};

template <typename Archive>
void visit(Archive& archive, const Laser3dConfig& config) {
  const auto& [pose, fov, rays, max_range, ignore_parent_body, noise] = config;
  archive(true, pose, fov, rays, max_range, ignore_parent_body, noise);  // true: not a laser of the plane
}

View view_of(const Laser3dConfig& config, const BeamTable& beams) {
  View view;
  view.content = ViewContent::kDepth;
  view.width = config.rays, view.height = 1;
  view.near = std::min(kNear, 0.5 * static_cast<double>(config.max_range));
  view.far = static_cast<double>(config.max_range);
  view.hides_vehicle = config.ignore_parent_body;
  view.turns = false;
  view.rings = {sin_cos(0)};
  for (int i = 0; i < beams.count(); ++i) view.columns.push_back(sin_cos(beams.angle(i)));
  return view;
}

class Laser3d final : public RaySensor {
 public:
  Laser3d(const Laser3dConfig& config, const LaserTags& tags, const BeamTable& beams)
      : RaySensor({.mount = config.pose,
                   .params = laser_noise_params().first(1),
                   .nominal_params = {config.noise.begin(), config.noise.end()},
                   .reading = laser_reading(tags)},
                  angles_of(beams), std::make_shared<const View>(view_of(config, beams))),
        config_(config) {}
  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  // Noise that would take a range out of bounds leaves it as it is. It is drawn for every ray, hit or not, so
  // that the stream does not depend on the scene.
  void read_view(const SensorOwn& own, const float* seen, float* ranges, uint8_t* valid) const override {
    constexpr size_t kAtOnce = 256;
    const double sigma = own.params[0], high = static_cast<double>(config_.max_range);
    double deviates[kAtOnce] = {};
    const auto size = static_cast<size_t>(config_.rays);
    for (size_t begin = 0; begin < size; begin += kAtOnce) {
      const size_t count = std::min(kAtOnce, size - begin);
      if (sigma > 0) own.noise->normals({deviates, count});
      for (size_t i = 0; i < count; ++i) {
        const auto range = static_cast<double>(seen[begin + i]), noisy = range + sigma * deviates[i];
        const bool hit = range > 0 && range < high;
        const double kept = noisy > 0 && noisy <= high ? noisy : range;
        ranges[begin + i] = hit ? static_cast<float>(kept) : config_.max_range;
        if (valid) valid[begin + i] = hit && kept < high ? 1 : 0;
      }
    }
  }

 private:
  Laser3dConfig config_;
};

}  // namespace

std::unique_ptr<const Sensor> make_laser3d(const LaserTags& tags, const BeamTable& beams) {
  const Laser3dConfig config{.pose = tags.pose,
                             .fov = tags.fov,
                             .rays = tags.rays,
                             .max_range = static_cast<float>(tags.max_range),
                             .ignore_parent_body = tags.ignore_parent_body,
                             .noise = {tags.range_noise}};
  return std::make_unique<Laser3d>(config, tags, beams);
}

}  // namespace mvsim
