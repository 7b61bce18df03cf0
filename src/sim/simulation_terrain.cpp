// The part of Simulation that stands on the ground: heights and attitude of vehicles, what is under a wheel.
#include <algorithm>
#include <cmath>

#include "sim/simulation.h"
#include "terrain/plate_fit.h"

namespace mvsim {

// Attitude from the ground under the wheels (physics 4.9); yaw, x and y are left alone.
void Simulation::update_terrain(size_t index) {
  VehicleState& state = state_.vehicles[index];
  find_tops_below(index);
  if (model_->terrain.empty() && tops_.empty()) {
    state.z = state.pitch = state.roll = 0;
    return;
  }
  // twice: where the wheels are depends on the attitude
  for (int pass = 0; pass < 2; ++pass) {
    const double z = state.z;
    const bool was_level = state.pitch == 0 && state.roll == 0;
    rest_on_ground(index);
    if (was_level && state.pitch == 0 && state.roll == 0 && state.z == z) return;
  }
}

// A block matters only if some part of its top is low enough to be under a wheel's axle.
void Simulation::find_tops_below(size_t index) {
  const Model& m = *model_;
  const VehicleModel& v = m.vehicles[index];
  const VehicleState& state = state_.vehicles[index];
  tops_.clear();
  double axle = state.z;
  for (const WheelModel& w : v.wheels) axle = std::max(axle, state.z + w.radius);
  if (state.pitch != 0 || state.roll != 0) axle += v.radius;
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    if (state_.block_z[b] + block.top.lowest() <= axle)
      tops_.push_back({&block.top, block_plane_pose(b), state_.block_z[b]});
  }
}

void Simulation::rest_on_ground(size_t index) {
  constexpr double kLevel = 1e-4, kAboveAnchor = 0.5;  // m
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  const Pose2 pose = body_pose(state_.bodies[v.body]);
  const Rotation2 R_world_yaw(pose.yaw);
  const SinCos pitch = sin_cos(state.pitch), roll = sin_cos(state.roll);
  PlateFit fit;
  double first = 0;
  bool level = true;
  // frame of the fit: at the reference point, with its yaw, level
  const auto touch = [&](Vec2 local, double above) {
    const Vec3 p{local.x * pitch.cos + local.y * roll.sin * pitch.sin, local.y * roll.cos,
                 local.y * roll.sin * pitch.cos - local.x * pitch.sin};
    const Vec2 at = Vec2{pose.x, pose.y} + R_world_yaw.rotate({p.x, p.y});
    const double z = highest_under(model_->terrain, tops_, at, state.z + p.z + above);
    if (fit.empty()) first = z;
    level = level && std::fabs(z - first) < kLevel;
    fit.add(local, {p.x, p.y, z - state.z});
  };
  for (const WheelModel& w : v.wheels) touch(w.position, w.radius);
  if (v.wheels.size() == 2 && v.first_joint_anchor) touch(*v.first_joint_anchor, kAboveAnchor);
  if (level) {
    state.z = first;
    state.pitch = state.roll = 0;
    return;
  }
  // two wheels at different heights leave the vehicle as it was
  const std::optional<PlatePose> plate = fit.solve();
  if (!plate) return;
  state.z += plate->z;
  state.pitch = plate->pitch;
  state.roll = plate->roll;
}

// Puts a vehicle that was moved onto the elevation maps, high enough that every wheel finds its ground.
void Simulation::snap_to_ground(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  const Pose2 pose = body_pose(state_.bodies[v.body]);
  std::optional<double> highest;
  for (const WheelModel& w : v.wheels)
    if (const std::optional<double> z = highest_map(model_->terrain, transform(pose, w.position)))
      highest = highest ? std::max(*highest, *z) : z;
  state.z = highest.value_or(0);
  state.pitch = state.roll = 0;
  update_terrain(index);
}

// Downhill pull in the vehicle frame as a share of the weight (physics 4.7).
Vec2 Simulation::slope_of(size_t index) const {
  const VehicleState& state = state_.vehicles[index];
  if (state.pitch == 0 && state.roll == 0) return {};
  const SinCos pitch = sin_cos(state.pitch), roll = sin_cos(state.roll);
  return {pitch.sin, -roll.sin * pitch.cos};
}

}  // namespace mvsim
