#include "sensor/odometry.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "worldfile/tags.h"

namespace mvsim {
namespace {

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
