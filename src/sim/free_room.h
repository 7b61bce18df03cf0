// Room of vehicles: how far each may travel without contact, and checks of a start.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/load_guard.h"
#include "sim/measure.h"
#include "sim/sim_state.h"

namespace mvsim {

// Chooses the vehicles that Box2D has to move. The others are too far from everything to touch it.
//
// Each vehicle knows how far it may travel before anything could come nearer than the collision threshold
// (SimState::free_distances). A step that stays within that distance needs no solver. The distance is
// measured from the circle that holds the whole vehicle, so turning does not use it up. Two vehicles that
// move freely share the room between them. Bodies that the solver moves stay farther from them than one step
// can take them.

inline constexpr double kLeaveContact = 0.05;  // m of free distance before Box2D is left again

// Free distance of a vehicle that may touch something as it stands.
inline constexpr double kUnmeasured = -1;

bool is_movable_block(const Model& m, const BodyModel& body);
bool is_moving(const BodyState& block);

// How far a vehicle may go before it could touch what is no vehicle, m; below 0: it may touch it now.
double free_distance(const Model& m, const SimState& s, Workspace& w, size_t vehicle);

// Returns whether each vehicle reaches its pose in Workspace::moved within its free distance.
bool all_within_reach(const SimState& s, const Workspace& w);

// Gives these vehicles to the solver: those that may touch something in a step of `dt` s on their way to
// Workspace::moved, and those that a body of the solver might reach.
void hold_near_ones(const Model& m, SimState& s, Workspace& w, double dt);

// Call after a step of the solver. Shortens the free distances of vehicles near blocks that the solver has
// moved. `before`: the Model's moving bodies before that step.
void keep_clear_of_moved_blocks(const Model& m, SimState& s, std::span<const BodyState> before);

// Returns vehicles that have room again from the solver to free motion.
void release_free_ones(const Model& m, SimState& s, Workspace& w);

// Checks of the start: bodies inside of others, and heaps that no solver can take apart in time.

// The first body of its kind that starts inside of something, and how many more do.
struct StartWarning {
  SourceLocation where;
  std::string text;  // without the place

  std::string line() const;  // "path:line:column: text"
};

// One warning for each kind: vehicle or movable block, inside of a vehicle, a block, a wall or a map. Bodies
// that only touch, and joined ones, do not count.
// Throws WorldFileError where more pairs of bodies start within each other than a step can take.
// `poll` (if any) is called for every body and may throw.
std::vector<StartWarning> check_start(const SimScene& sim, const Poll& poll = {});

// Throws the same for a heap alone. Fewer than kFewestOfHeap bodies, each with one other, make none.
inline constexpr size_t kFewestOfHeap = 200;
void refuse_heap(const SimScene& sim);

// The same, where a warning is an error: throws WorldFileError at the first.
void require_free_start(const SimScene& sim, const Poll& poll = {});

}  // namespace mvsim
