// Queries of a state: poses and velocities of things, how near they are to each other, outlines.
#pragma once

#include <array>
#include <span>

#include "sim/scene_buffer.h"
#include "sim/sim_state.h"

namespace mvsim {

// Slip of a wheel, as defined in tire/rolling.h.
struct WheelSlip {
  double ratio = 0;  // in [-1, 1]
  double angle = 0;  // rad, in [-pi/2, pi/2]
};

bool is_finite(const SimView& sim);

// Throws Error if the last step of `dt` s limited the motion of a body: the body moves as fast as a step can
// move it, or its command is faster (model/compile_parts.h).
void refuse_cut_motion(const SimView& sim, double dt);

// Acceleration of the reference point in the last step, m/s2, body frame.
Vec2 vehicle_acceleration(const SimView& sim, size_t vehicle);
Pose3 vehicle_pose(const SimView& sim, size_t vehicle);
Twist2 vehicle_twist(const SimView& sim, size_t vehicle);        // body frame
Twist2 vehicle_world_twist(const SimView& sim, size_t vehicle);  // world axes
Twist2 vehicle_odometry_twist(const SimView& sim, size_t vehicle);
// Returns whether the vehicle, or one that is joined to it, had a collision since the flags were cleared.
bool had_collision(const SimView& sim, size_t vehicle);
// The same as bits of Contact.
uint8_t contacts(const SimView& sim, size_t vehicle);

std::span<const WheelState> wheel_states(const SimView& sim, size_t vehicle);
Vec2 wheel_velocity(const SimView& sim, size_t vehicle, size_t wheel);  // of its centre, m/s, vehicle frame
// Radius of a wheel under its load, m.
double rolling_radius(const SimView& sim, size_t vehicle, size_t wheel);
WheelSlip wheel_slip(const SimView& sim, size_t vehicle, size_t wheel);  // of the present speeds

inline Pose2 body_pose(const SimView& sim, size_t body) {
  return body_pose(sim.state.bodies[body]);
}
inline Pose2 block_plane_pose(const SimView& sim, size_t block) {
  const int body = sim.model.blocks[block].body;
  return body < 0 ? sim.state.intangible_poses[block] : body_pose(sim, static_cast<size_t>(body));
}
inline Vec2 vehicle_position(const SimView& sim, size_t vehicle) {
  const Pose2 pose = body_pose(sim, sim.model.vehicles[vehicle].body);
  return {pose.x, pose.y};
}
Pose3 block_pose(const SimView& sim, size_t block);
Twist2 block_world_twist(const SimView& sim, size_t block);

// World positions of the joint's anchors on body a and body b.
std::array<Vec2, 2> joint_anchors(const SimView& sim, size_t joint);

// -- distances and outlines (clearance.cpp)

// A SimView with the cached outlines of moving things. Queries fill the cache, so only one thread at a time
// may use it. A Simulation converts to it.
struct SimScene : SimView {
  SceneBuffer& scene;
};

// Distance (m) from a point to the nearest tangible thing (occupied cell, static shape, block, other
// vehicle), at most `limit`. The vehicle `except_vehicle` (-1: none) and bodies joined to it are left out.
double distance_to_obstacles(const SimScene& sim, Vec2 point, double limit, int except_vehicle = -1);
// Distance (m) from a point to walls, static blocks and occupied cells that no environment moves, at most
// `limit`.
double distance_to_fixed(const Model& m, Vec2 point, double limit);
// As distance_to_obstacles(), without all vehicles.
double distance_to_static(const SimScene& sim, Vec2 point, double limit);
// The same or less from a convex, counter-clockwise outline at `pose`, about which a circle of `radius` m
// holds it.
double distance_to_static_at_least(const SimScene& sim, const Polygon& outline, const Pose2& pose,
                                   double radius, double limit);
// The same from a point, without all vehicles, people and bodies that policies drive.
double distance_to_standing(const SimScene& sim, Vec2 point, double limit);
// As distance_to_obstacles(), from the chassis outline of a vehicle and of those joined to it.
double clearance(const SimScene& sim, size_t vehicle, double limit);

// Returns the number of occupied cells of maps that a convex, counter-clockwise outline in the world frame
// overlaps. Cells at its border are counted approximately.
size_t overlapped_cells(const SimView& sim, const Polygon& outline);

// Outlines in the world frame at their present size, counter-clockwise.
Polygon block_outline(const SimView& sim, size_t block);
Polygon vehicle_outline(const SimView& sim, size_t vehicle);  // of the chassis

}  // namespace mvsim
