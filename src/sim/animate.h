// Animations: keyframes of blocks, vehicles and planes, people on paths. They are functions of time, so a
// state holds only the poses of the bodies. Bodies that an environment's policies drive move at the velocity
// of their state.
#pragma once

#include <vector>

#include "sim/sim_state.h"

namespace mvsim {

// Sets the poses of all animated bodies at s.time, at rest.
void animate(const Model& m, SimState& s, Workspace& w);

// Adds to `tops` those of moving planes whose lowest point is not above `height` at s.time.
void add_moving_planes(const Model& m, const SimState& s, double height, std::vector<PlacedTop>& tops);

Pose3 moving_plane_pose(const MovingPlane& plane, double time);
Pose3 actor_pose(const ActorModel& actor, double time);
// The same; for an actor with a body, the present pose of that body.
Pose3 actor_pose(const SimView& sim, size_t actor);

// Moves driven blocks at their velocities for dt s.
void move_driven_blocks(const Model& m, SimState& s, Workspace& w, double dt);
// Sets the velocity of a driven block from now on, in world axes.
void drive_block(const Model& m, SimState& s, size_t block, const Twist2& world_twist);

}  // namespace mvsim
