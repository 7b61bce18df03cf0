// Animations: keyframes of blocks, vehicles and planes, people on paths. They are functions of time, so a
// state holds only the poses of the bodies. Bodies that an environment's policies drive move at the velocity
// of their state.
#pragma once

#include <vector>

#include "sim/sim_state.h"

namespace mvsim {

// Imposes the poses of the time s.time, at rest.
void animate(const Model& m, SimState& s, Workspace& w);

// Tops of planes that move, where they are low enough at s.time.
void add_moving_planes(const Model& m, const SimState& s, double height, std::vector<PlacedTop>& tops);

Pose3 moving_plane_pose(const MovingPlane& plane, double time);
Pose3 actor_pose(const ActorModel& actor, double time);
// Also of one with a body, wherever that came to.
Pose3 actor_pose(const SimView& sim, size_t actor);

// Driven blocks go on at their velocities for dt s.
void move_driven_blocks(const Model& m, SimState& s, Workspace& w, double dt);
// From now on; world axes.
void drive_block(const Model& m, SimState& s, size_t block, const Twist2& world_twist);

}  // namespace mvsim
