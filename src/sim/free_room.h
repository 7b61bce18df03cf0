// Chooses the vehicles that Box2D has to move. The others are too far from everything to touch it.
//
// Each vehicle knows how far it may travel before anything could come nearer than the collision threshold
// (SimState::free_distances). A step that stays within that distance needs no solver. The distance is
// measured from the circle that holds the whole vehicle, so turning does not use it up. Two vehicles that
// move freely share the room between them. Bodies that the solver moves stay farther from them than one step
// can take them.
#pragma once

#include <span>

#include "sim/sim_state.h"

namespace mvsim {

// Free distance of a vehicle that may touch something as it stands.
inline constexpr double kUnmeasured = -1;

bool is_movable_block(const Model& m, const BodyModel& body);
bool is_moving(const BodyState& block);

// Returns whether each vehicle reaches its pose in Workspace::moved within its free distance.
bool all_within_reach(const SimState& s, const Workspace& w);

// Gives these vehicles to the solver: those that may touch something in a step of `dt` s on their way to
// Workspace::moved, and those that a body of the solver might reach.
void hold_near_ones(const Model& m, SimState& s, Workspace& w, double dt);

// Call after a step of the solver. Shortens the free distances of vehicles near blocks that the solver has
// moved. `before`: all bodies before that step.
void keep_clear_of_moved_blocks(const Model& m, SimState& s, std::span<const BodyState> before);

// Returns vehicles that have room again from the solver to free motion.
void release_free_ones(const Model& m, SimState& s, Workspace& w);

}  // namespace mvsim
