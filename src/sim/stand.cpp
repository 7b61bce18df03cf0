#include "sim/stand.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "raycast/polygon_cast.h"
#include "sim/measure.h"
#include "sim/place.h"
#include "sim/workspace.h"
#include "terrain/ground.h"

namespace mvsim {
namespace {

constexpr double kFarthestGround = 10;  // m, beyond which nothing is looked at
constexpr double kGroundSlack = 1e-6;   // m, beyond any rounding

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Heights that a piece of ground has somewhere.
struct Heights {
  double low, high;
};

// The ground that is looked for: that of a plane, or none at all, which counts as 0.
struct Wanted {
  double z, ceiling;
  bool has_plane;

  // Whether ground of such heights changes nothing wherever it lies.
  bool ignores(Heights h) const {
    if (h.low > ceiling + kGroundSlack) return true;
    if (same_bits(h.low, z) && same_bits(h.high, z)) return true;
    return has_plane && h.high < z - kGroundSlack;
  }
};

// From a point to the border of a rectangle: > 0 inside, < 0 outside.
double depth_in(const Rect& r, Vec2 p) {
  const double inside =
      std::min(std::min(p.x - r.x_min, r.x_max - p.x), std::min(p.y - r.y_min, r.y_max - p.y));
  if (inside >= 0) return inside;
  return -norm(
      Vec2{std::max({r.x_min - p.x, p.x - r.x_max, 0.0}), std::max({r.y_min - p.y, p.y - r.y_max, 0.0})});
}

double depth_in(const GroundPlane& plane, Vec2 p) {
  return depth_in(plane.extent, Rotation2(plane.pose.yaw).unrotate(p - Vec2{plane.pose.x, plane.pose.y}));
}

Heights heights_of(const BlockTop& top, double z) {
  if (top.shape == TopShape::kFlat) return {z + top.height, z + top.height};
  return {z + std::min(0.0, top.height) - kGroundSlack, z + std::max(0.0, top.height) + kGroundSlack};
}

// To a block's top, at most `limit`.
double distance_to_top(const BlockTop& top, const Pose2& pose, Vec2 p, double limit) {
  const Vec2 offset = p - Vec2{pose.x, pose.y};
  if (norm(offset) - top.radius >= limit) return limit;
  return std::min(limit, polygon_point_distance(top.outline, Rotation2(pose.yaw).unrotate(offset)));
}

// To the nearest ground that is not ignored, at most `limit`; `movable`: some of it, near or far, can move.
double distance_to_other(const Model& m, const SimState& s, Vec2 at, const Wanted& wanted, double limit,
                         bool& movable) {
  double best = limit;
  for (const HeightMap& map : m.terrain.maps)
    if (!wanted.has_plane || !(map.highest() < wanted.z - kGroundSlack))
      best = std::min(best, -depth_in(map.extent(), at));
  for (const GroundPlane& plane : m.terrain.planes) {
    const double z = plane.pose.z + plane.z;
    if (!wanted.ignores({z, z})) best = std::min(best, -depth_in(plane, at));
  }
  movable = false;
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    if (wanted.ignores(heights_of(block.top, s.block_z[b]))) continue;
    movable = movable || (block.body >= 0 && !block.traits.is_static);
    best = distance_to_top(block.top, block_plane_pose({m, s}, b), at, best);
  }
  return best;
}

constexpr double kAboveAnchor = 0.5;                   // m, where a trailer's anchor looks for ground
constexpr double kClimb = 0.55, kAboveChassis = 1.05;  // of a wheel's diameter, of the chassis' height

bool is_within(const BlockModel& block, const Pose2& pose, Vec2 at, double reach) {
  const Vec2 offset = at - Vec2{pose.x, pose.y};
  const double far = reach + block.top.radius + kGroundSlack;
  return dot(offset, offset) <= far * far;
}

// Blocks matter to a vehicle only if some part of their top is low enough, and within `reach` of the vehicle.
void find_tops_below(double height, const Model& m, const SimState& s, Workspace& w, size_t vehicle,
                     double reach) {
  const SimView sim{m, s};
  const Vec2 at = vehicle_position(sim, vehicle);
  w.tops.clear();
  for (const size_t b : w.vehicles[vehicle].tops.of(m, s, at, reach)) {
    const BlockModel& block = m.blocks[b];
    if (s.block_z[b] + block.top.lowest() > height) continue;
    const Pose2 pose = block_plane_pose(sim, b);
    if (is_within(block, pose, at, reach)) w.tops.push_back({&block.top, pose, s.block_z[b]});
  }
  add_moving_planes(m, s, height, w.tops);
}

// highest_under(); a map alone is the ground at any height.
double ground_under(const Terrain& terrain, const std::vector<PlacedTop>& tops, Vec2 at, double z) {
  if (terrain.maps.size() == 1 && terrain.planes.empty() && tops.empty())
    return terrain.maps[0].height_or(at, 0);
  return highest_under(terrain, tops, at, z);
}

// One pass of stand(): the plate that fits the ground under the wheels as the vehicle is tilted now.
double rest_on_ground(const Model& m, SimState& s, Workspace& w, size_t index) {
  constexpr double kLevel = 1e-4;  // m
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  const Pose2 pose = body_pose(s.bodies[v.body]);
  const Rotation2 R_world_yaw = w.vehicles[index].yaw.of(pose.yaw);
  const Tilt tilt = w.vehicles[index].tilt.of(state);
  PlateFit fit;
  double first = 0, sum = 0;
  bool level = true;
  // frame of the fit: at the reference point, with its yaw, level
  const auto touch = [&](Vec2 local, double above) {
    const Vec3 p = tilt.apply({local.x, local.y, 0});
    const Vec2 at = Vec2{pose.x, pose.y} + R_world_yaw.rotate({p.x, p.y});
    const double z = ground_under(m.terrain, w.tops, at, state.z + p.z + above);
    if (fit.empty()) first = z;
    level = level && std::fabs(z - first) < kLevel;
    fit.add(local, {p.x, p.y, z - state.z});
    return z;
  };
  for (const WheelModel& wheel : v.wheels) sum += touch(wheel.position, wheel.radius);
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

// How rest_on_ground() and find_step_squares() look for ground from a vehicle that is level; nothing for one
// that would look below itself.
std::optional<GroundQuery> level_query(const Model& m, const VehicleModel& v) {
  const double top = kAboveChassis * v.z_max;
  GroundQuery query{.ceiling = std::max(0.0, top), .reach = 0};
  bool above = !m.has_steps || top >= 0;
  for (const WheelModel& w : v.wheels) {
    above = above && w.radius >= 0;
    query.ceiling = std::max(query.ceiling, w.radius);
    query.reach = std::max(query.reach, norm(w.position));
  }
  for (const Vec2 corner : v.chassis.outline) query.reach = std::max(query.reach, norm(corner));
  if (v.first_joint_anchor) {
    query.ceiling = std::max(query.ceiling, kAboveAnchor);
    query.reach = std::max(query.reach, norm(*v.first_joint_anchor));
  }
  return above ? std::optional(query) : std::nullopt;
}

Vec2 place_of(const Model& m, const SimState& s, size_t vehicle) {
  const Pose2 pose = body_pose(s.bodies[m.vehicles[vehicle].body]);
  return {pose.x, pose.y};
}

}  // namespace

void NearTops::look(const Model& m, const SimState& s, Vec2 at, double reach) {
  constexpr double kRoom = 1;  // m that the vehicle may go until it is looked again
  center_ = at;
  reach_ = reach + kRoom;
  known_ = true;
  found_.clear();
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    const bool may_move = !block.traits.is_static || block.is_led;
    if (may_move || is_within(block, block_plane_pose({m, s}, b), at, reach_)) found_.push_back(b);
  }
}

LevelGround find_level_ground(const Model& m, const SimState& s, Vec2 center, double z, GroundQuery query) {
  LevelGround out{.center = center, .z = z, .room = 0, .known = true};
  double on_plane = 0;
  for (const GroundPlane& plane : m.terrain.planes)
    if (same_bits(plane.pose.z + plane.z, z)) on_plane = std::max(on_plane, depth_in(plane, center));
  const auto look = [&](bool has_plane, double limit) {
    bool movable = false;
    const double found = distance_to_other(m, s, center, {z, z + query.ceiling, has_plane}, limit, movable);
    if (!(found > out.room)) return;
    out.room = found;
    out.on_movable_blocks = movable;
  };
  if (same_bits(z, 0.0)) look(false, kFarthestGround + query.reach);
  look(true, std::min(on_plane, kFarthestGround + query.reach));
  out.room -= query.reach + kGroundSlack;
  return out;
}

double stand(const Model& m, SimState& s, Workspace& w, size_t index) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  double axle = state.z;
  for (const WheelModel& wheel : v.wheels) axle = std::max(axle, state.z + wheel.radius);
  if (state.pitch != 0 || state.roll != 0) axle += v.radius;
  const double reach = v.first_joint_anchor ? std::max(v.radius, norm(*v.first_joint_anchor)) : v.radius;
  find_tops_below(axle, m, s, w, index, reach);
  if (m.terrain.empty() && w.tops.empty()) {
    state.z = state.pitch = state.roll = 0;
    return 0;
  }
  // twice: where the wheels are depends on the attitude
  double ground = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const double z = state.z;
    const bool was_level = state.pitch == 0 && state.roll == 0;
    ground = rest_on_ground(m, s, w, index);
    if (was_level && state.pitch == 0 && state.roll == 0 && state.z == z) break;
  }
  return ground;
}

void snap_to_ground(const Model& m, SimState& s, Workspace& w, size_t index) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  const Pose2 pose = body_pose(s.bodies[v.body]);
  std::optional<double> highest;
  for (const WheelModel& wheel : v.wheels)
    if (const std::optional<double> z = highest_map(m.terrain, transform(pose, wheel.position)))
      highest = highest ? std::max(*highest, *z) : z;
  state.z = highest.value_or(0);
  state.pitch = state.roll = 0;
  w.fit(m.vehicles.size());
  stand(m, s, w, index);
}

void find_step_squares(const Model& m, const SimState& s, Workspace& w, size_t index, double wheel_ground) {
  constexpr double kHalfSide = 0.01, kSideOfSpeed = 0.07;  // m, s
  const VehicleModel& v = m.vehicles[index];
  const VehicleState& state = s.vehicles[index];
  const Pose2 pose = body_pose(s.bodies[v.body]);
  const Rotation2 R_world_yaw = w.vehicles[index].yaw.of(pose.yaw);
  const Tilt& tilt = w.vehicles[index].tilt.of(state);
  const double top = kAboveChassis * v.z_max, climb = kClimb * 2 * v.wheels[0].radius;
  find_tops_below(state.z + top + v.radius, m, s, w, index, v.radius + std::fabs(top));
  for (const Vec2 corner : v.chassis.outline) {
    const Vec3 p = tilt.apply({corner.x, corner.y, top});
    const Vec2 at = Vec2{pose.x, pose.y} + R_world_yaw.rotate({p.x, p.y});
    if (!(ground_under(m.terrain, w.tops, at, state.z + p.z) - wheel_ground > climb)) continue;
    const Twist2 twist = vehicle_twist({m, s}, index);
    const double half = kHalfSide + kSideOfSpeed * norm(Vec2{twist.vx, twist.vy});
    w.step_squares.push_back(
        {{half * std::nearbyint(at.x / half), half * std::nearbyint(at.y / half)}, half});
  }
}

bool stands_on_known_ground(const Model& m, SimState& s, Workspace& w, size_t index) {
  const LevelGround& level = w.vehicles[index].level;
  VehicleState& state = s.vehicles[index];
  if (!(level.room > 0) || !level.holds(state, place_of(m, s, index), level.room)) return false;
  state.z = level.z;
  state.pitch = state.roll = 0;  // of either sign before
  return true;
}

void learn_ground(const Model& m, const SimState& s, Workspace& w, size_t index, double wheel_ground) {
  constexpr double kWorthwhile = 0.02;  // m between two looks
  const VehicleModel& v = m.vehicles[index];
  const VehicleState& state = s.vehicles[index];
  LevelGround& level = w.vehicles[index].level;
  const Vec2 at = place_of(m, s, index);
  // room grows by no more than the way
  const double way = std::max(kWorthwhile, -level.room);
  if (state.pitch != 0 || state.roll != 0 || level.holds(state, at, way)) return;
  const std::optional<GroundQuery> query = level_query(m, v);
  if (!query || state.z - wheel_ground > kClimb * 2 * v.wheels[0].radius) return;
  // ground that moves is not to be remembered, unless it always stays above what the vehicle looks at
  if (m.lowest_moving_ground <= state.z + query->ceiling + kGroundSlack) return;
  level = find_level_ground(m, s, at, state.z, *query);
  if (level.on_movable_blocks && s.in_contact) level.room = 0;
}

Vec2 slope_of(const VehicleState& state, TiltMemo& memo) {
  if (state.pitch == 0 && state.roll == 0) return {};
  const Tilt& tilt = memo.of(state);
  return {tilt.pitch.sin, -tilt.roll.sin * tilt.pitch.cos};
}

double gravity_across(const Model& m, const Tilt& tilt) {
  return m.gravity * tilt.pitch.cos * tilt.roll.cos;
}

}  // namespace mvsim
