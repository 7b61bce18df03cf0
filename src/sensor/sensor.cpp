#include "sensor/sensor.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/geometry3.h"
#include "sensor/view.h"
#include "worldfile/tags.h"

namespace mvsim {
namespace {

bool are_same(const SinCos& a, const SinCos& b) {
  return a.sin == b.sin && a.cos == b.cos;
}

bool are_same(const Frame3& a, const Frame3& b) {
  return a.origin == b.origin && a.x == b.x && a.y == b.y && a.z == b.z;
}

// The multipliers, as <odometry> has them.
std::span<const ParamInfo> multipliers() {
  static const auto kTable = [] {
    std::array<ParamInfo, 3> table;
    for (size_t i = 0; i < table.size(); ++i) table[i] = odometry_tags()[i].range;
    return table;
  }();
  return kTable;
}

}  // namespace

Vec3 Site::enu(Vec3 world) const {
  const Vec3 from_origin = world - origin;
  const Vec2 plan = Rotation2(rotation).rotate({from_origin.x, from_origin.y});
  return {plan.x, plan.y, from_origin.z};
}

bool Site::is_covered(Vec3 world) const {
  for (const CoverageRegion& region : regions) {
    const Rect& e = region.extent;
    if (world.x >= e.x_min && world.x <= e.x_max && world.y >= e.y_min && world.y <= e.y_max &&
        world.z >= region.z_min && world.z <= region.z_max)
      return !region.hides;
  }
  return true;
}

bool have_same_rays(const View& a, const View& b) {
  const auto same = [](const SinCos& one, const SinCos& other) { return are_same(one, other); };
  return a.width == b.width && a.height == b.height && a.fx == b.fx && a.fy == b.fy && a.cx == b.cx &&
         a.cy == b.cy && a.hides_vehicle == b.hides_vehicle && are_same(a.T_sensor_view, b.T_sensor_view) &&
         std::ranges::equal(a.rings, b.rings, same) && std::ranges::equal(a.columns, b.columns, same);
}

Odometry::Odometry()
    : StateSensor({.mount = {},
                   .params = multipliers(),
                   .nominal_params = {1, 1, 1},
                   .reading = {.dtype = DType::kFloat64,
                               .shape = {3},
                               .low = -kMaxNumber,
                               .high = kMaxNumber,
                               .unit = "m, m, rad"}}) {}

void Odometry::read(const SensorOwn& own, const BodyMotion& motion, std::byte* values, uint8_t* valid) const {
  const Pose2 sum = add({own.memory[0], own.memory[1], own.memory[2]}, own.params, motion.pose_before,
                        motion.heading_before, {motion.pose.x, motion.pose.y, motion.pose.yaw});
  own.memory[0] = sum.x;
  own.memory[1] = sum.y;
  own.memory[2] = sum.yaw;
  if (values) std::memcpy(values, own.memory, 3 * sizeof(double));
  if (valid) std::fill_n(valid, 3, uint8_t{1});
}

const Odometry& built_in_odometry() {
  static const Odometry kOdometry;
  return kOdometry;
}

}  // namespace mvsim
