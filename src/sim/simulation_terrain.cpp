// The part of Simulation that stands on the ground: heights and attitude of vehicles, what is under a wheel.
#include <algorithm>
#include <cmath>

#include "sim/simulation.h"
#include "terrain/plate_fit.h"

namespace mvsim {

namespace {

// A point of a vehicle in the level frame at its reference point that has its yaw.
struct Tilt {
  explicit Tilt(const VehicleState& state) : pitch(sin_cos(state.pitch)), roll(sin_cos(state.roll)) {}

  Vec3 apply(Vec3 p) const {
    const double z = p.y * roll.sin + p.z * roll.cos;
    return {p.x * pitch.cos + z * pitch.sin, p.y * roll.cos - p.z * roll.sin,
            z * pitch.cos - p.x * pitch.sin};
  }

  SinCos pitch, roll;
};

}  // namespace

// Attitude from the ground under the wheels (physics 4.9); yaw, x and y are left alone. Returns the mean
// height of that ground.
double Simulation::update_terrain(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  double axle = state.z;
  for (const WheelModel& w : v.wheels) axle = std::max(axle, state.z + w.radius);
  if (state.pitch != 0 || state.roll != 0) axle += v.radius;
  find_tops_below(axle);
  if (model_->terrain.empty() && tops_.empty()) {
    state.z = state.pitch = state.roll = 0;
    return 0;
  }
  // twice: where the wheels are depends on the attitude
  double ground = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const double z = state.z;
    const bool was_level = state.pitch == 0 && state.roll == 0;
    ground = rest_on_ground(index);
    if (was_level && state.pitch == 0 && state.roll == 0 && state.z == z) break;
  }
  return ground;
}

// Blocks matter only if some part of their top is low enough.
void Simulation::find_tops_below(double height) {
  const Model& m = *model_;
  tops_.clear();
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    if (state_.block_z[b] + block.top.lowest() <= height)
      tops_.push_back({&block.top, block_plane_pose(b), state_.block_z[b]});
  }
}

double Simulation::rest_on_ground(size_t index) {
  constexpr double kLevel = 1e-4, kAboveAnchor = 0.5;  // m
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  const Pose2 pose = pose_of(v.body);
  const Rotation2 R_world_yaw(pose.yaw);
  const Tilt tilt(state);
  PlateFit fit;
  double first = 0, sum = 0;
  bool level = true;
  // frame of the fit: at the reference point, with its yaw, level
  const auto touch = [&](Vec2 local, double above) {
    const Vec3 p = tilt.apply({local.x, local.y, 0});
    const Vec2 at = Vec2{pose.x, pose.y} + R_world_yaw.rotate({p.x, p.y});
    const double z = highest_under(model_->terrain, tops_, at, state.z + p.z + above);
    if (fit.empty()) first = z;
    level = level && std::fabs(z - first) < kLevel;
    fit.add(local, {p.x, p.y, z - state.z});
    return z;
  };
  for (const WheelModel& w : v.wheels) sum += touch(w.position, w.radius);
  const double mean = sum / static_cast<double>(v.wheels.size());
  if (v.wheels.size() == 2 && v.first_joint_anchor) touch(*v.first_joint_anchor, kAboveAnchor);
  if (level) {
    state.z = first;
    state.pitch = state.roll = 0;
    return mean;
  }
  // two wheels at different heights leave the vehicle as it was
  const std::optional<PlatePose> plate = fit.solve();
  if (!plate) return mean;
  state.z += plate->z;
  state.pitch = plate->pitch;
  state.roll = plate->roll;
  return mean;
}

// Ground that rises under a corner of the chassis more than the wheels can climb stands in the way there
// (physics 4.10).
void Simulation::find_step_squares(size_t index, double wheel_ground) {
  constexpr double kClimb = 0.55, kAboveChassis = 1.05;    // of a wheel's diameter, of the chassis' height
  constexpr double kHalfSide = 0.01, kSideOfSpeed = 0.07;  // m, s
  const VehicleModel& v = model_->vehicles[index];
  const VehicleState& state = state_.vehicles[index];
  const Pose2 pose = pose_of(v.body);
  const Rotation2 R_world_yaw(pose.yaw);
  const Tilt tilt(state);
  const double top = kAboveChassis * v.z_max, climb = kClimb * 2 * v.wheels[0].radius;
  find_tops_below(state.z + top + v.radius);
  for (const Vec2 corner : v.chassis.outline) {
    const Vec3 p = tilt.apply({corner.x, corner.y, top});
    const Vec2 at = Vec2{pose.x, pose.y} + R_world_yaw.rotate({p.x, p.y});
    if (!(highest_under(model_->terrain, tops_, at, state.z + p.z) - wheel_ground > climb)) continue;
    const Twist2 twist = vehicle_twist(index);
    const double half = kHalfSide + kSideOfSpeed * norm({twist.vx, twist.vy});
    step_squares_.push_back({{half * std::nearbyint(at.x / half), half * std::nearbyint(at.y / half)}, half});
  }
}

// Puts a vehicle that was moved onto the elevation maps, high enough that every wheel finds its ground.
void Simulation::snap_to_ground(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  const Pose2 pose = pose_of(v.body);
  std::optional<double> highest;
  for (const WheelModel& w : v.wheels)
    if (const std::optional<double> z = highest_map(model_->terrain, transform(pose, w.position)))
      highest = highest ? std::max(*highest, *z) : z;
  state.z = highest.value_or(0);
  state.pitch = state.roll = 0;
  update_terrain(index);
}

// What the regions say of a point of the ground (world-elements 2.4).
GroundPatch Simulation::ground_at(Vec2 point) const {
  GroundPatch out;
  constexpr double kEdge = 1e-9;  // m: edges belong to the box, however its centre was rounded
  unsigned decided = 0;           // a bit a property: its first region counts
  for (const RegionModel& region : model_->regions) {
    const unsigned bit = 1u << static_cast<unsigned>(region.property);
    const double* box = state_.params.data() + region.box;
    if ((decided & bit) || std::fabs(point.x - box[kRegionX]) > box[kRegionSizeX] / 2 + kEdge ||
        std::fabs(point.y - box[kRegionY]) > box[kRegionSizeY] / 2 + kEdge)
      continue;
    decided |= bit;
    if (region.value < 0) continue;
    const double value = state_.params[static_cast<size_t>(region.value)];
    switch (region.property) {
      case GroundProperty::kMu:
        out.mu = value;
        break;
      case GroundProperty::kCRr:
        out.c_rr = value;
        break;
      case GroundProperty::kSurface:
        out.surface = static_cast<int>(value);
        break;
      case GroundProperty::kConeIndex:
        out.cone_index = value;
        break;
    }
  }
  return out;
}

// Downhill pull in the vehicle frame as a share of the weight (physics 4.7).
Vec2 Simulation::slope_of(size_t index) const {
  const VehicleState& state = state_.vehicles[index];
  if (state.pitch == 0 && state.roll == 0) return {};
  const SinCos pitch = sin_cos(state.pitch), roll = sin_cos(state.roll);
  return {pitch.sin, -roll.sin * pitch.cos};
}

}  // namespace mvsim
