// The part of Simulation that stands on the ground: heights and attitude of vehicles, what is under a wheel.
#include <algorithm>
#include <cmath>

#include "sim/simulation.h"

namespace mvsim {

void Simulation::update_terrain(size_t index) {
  const Model& m = *model_;
  VehicleState& state = state_.vehicles[index];
  const VehicleModel& v = m.vehicles[index];
  tops_.clear();
  // a block matters only if some part of its top is low enough to be under a wheel's axle
  double axle = 0;
  for (const WheelModel& w : v.wheels) axle = std::max(axle, w.radius);
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    if (state_.block_z[b] + block.top.lowest() <= state.z + axle)
      tops_.push_back({&block.top, block_plane_pose(b), state_.block_z[b]});
  }
  if (m.planes.empty() && tops_.empty()) {
    state.z = 0;
    return;
  }
  const Pose2 pose = body_pose(state_.bodies[v.body]);
  double sum = 0, first = 0;
  bool level = true;
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const Vec2 at = transform(pose, v.wheels[i].position);
    const double z = highest_under(m.planes, tops_, at, state.z + v.wheels[i].radius);
    if (i == 0) first = z;
    level = level && std::fabs(z - first) < 1e-4;
    sum += z;
  }
  // two wheels at different heights leave the vehicle as it was; three or more carry it at their mean
  if (level)
    state.z = first;
  else if (v.wheels.size() > 2)
    state.z = sum / static_cast<double>(v.wheels.size());
}

// Downhill pull in the vehicle frame as a share of the weight (physics 4.7).
Vec2 Simulation::slope_of(size_t index) const {
  const VehicleState& state = state_.vehicles[index];
  if (state.pitch == 0 && state.roll == 0) return {};
  const SinCos pitch = sin_cos(state.pitch), roll = sin_cos(state.roll);
  return {pitch.sin, -roll.sin * pitch.cos};
}

}  // namespace mvsim
