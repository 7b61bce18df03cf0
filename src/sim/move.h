// Moves bodies for one step: freely while nothing can be touched, by Box2D near a possible contact.
#pragma once

#include "sim/sim_state.h"

namespace mvsim {

// Under Workspace::forces, against what stands in Workspace::step_squares. Gives up the pose of a body that
// diverges (NaN). Writes the vehicles' collision flags.
void move(const Model& m, SimState& s, Workspace& w, double dt);

}  // namespace mvsim
