// What moves by itself: keyframes of blocks, vehicles and planes, people on paths. All of it is a function of
// the time, so a state holds none of it but the poses of bodies.
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

}  // namespace mvsim
