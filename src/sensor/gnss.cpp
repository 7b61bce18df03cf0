// Sensor class `gnss`: a receiver of satellite navigation, with white noise. It has no reading where the
// world is not placed on the Earth (<georeference>), and inside regions of the property gps_no_coverage.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/archive.h"
#include "base/geometry3.h"
#include "sensor/sensor.h"
#include "sensor/sensors.h"

namespace mvsim {
namespace {

enum { kHorizontal, kVertical, kNoiseCount };
constexpr ParamInfo kNoise[] = {
    {.name = "horizontal_std_noise", .fallback = 2, .min = 0, .unit = "m"},
    {.name = "vertical_std_noise", .fallback = 4, .min = 0, .unit = "m"},
};

struct GnssConfig {
  Pose3 pose;  // T_vehicle_antenna
  std::array<double, kNoiseCount> noise{};
};

GnssConfig read_config(const SensorSpec& spec, std::vector<std::string>& warnings) {
  GnssConfig config;
  read_params(spec.params, kNoise, config.noise, kCommonSensorTags, warnings);
  config.pose = read_mount(spec.params, {});
  return config;
}

constexpr size_t kValues = 8;

SensorInfo info_of(const GnssConfig& config) {
  return {.mount = config.pose,
          .params = kNoise,
          .nominal_params = {config.noise.begin(), config.noise.end()},
          .reading = {.dtype = DType::kFloat64,
                      .shape = {kValues},
                      .low = -kMaxNumber,
                      .high = kMaxNumber,
                      .unit = "deg, deg, m"}};
}

}  // namespace

// Its reading (float64): latitude and longitude in degrees, height above the ellipsoid of WGS84; east, north,
// up from the reference; the deviations of these, horizontal and vertical. Zeros that are not valid where
// there is no fix.
class Gnss final : public StateSensor {
 public:
  explicit Gnss(const GnssConfig& config) : StateSensor(info_of(config)), config_(config) {}

  void add_config(ArchiveHasher& hasher) const override { hasher(config_); }

  void read(const SensorOwn& own, const BodyMotion& motion, std::byte* values,
            uint8_t* valid) const override {
    const Pose3& mount = config_.pose;
    const Vec3 antenna = Frame3(motion.pose).transform({mount.x, mount.y, mount.z});
    const bool has_fix = motion.site && motion.site->is_covered(antenna);
    std::array<double, kValues> out{};
    if (has_fix) {
      Vec3 enu = motion.site->enu(antenna);
      const double horizontal = own.params[kHorizontal], vertical = own.params[kVertical];
      if (horizontal > 0) enu.x += horizontal * own.noise->normal();
      if (horizontal > 0) enu.y += horizontal * own.noise->normal();
      if (vertical > 0) enu.z += vertical * own.noise->normal();
      const Geodetic place = motion.site->plane.geodetic(enu);
      out = {place.latitude, place.longitude, place.height, enu.x, enu.y, enu.z, horizontal, vertical};
    }
    std::memcpy(values, out.data(), sizeof out);
    if (valid) std::fill_n(valid, kValues, static_cast<uint8_t>(has_fix));
  }

 private:
  GnssConfig config_;
};

template <>
std::unique_ptr<const Sensor> compile_sensor<Gnss>(const SensorSpec& spec, LoadGuard& /*guard*/,
                                                   std::vector<std::string>& warnings) {
  return std::make_unique<Gnss>(read_config(spec, warnings));
}

}  // namespace mvsim
