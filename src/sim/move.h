// Moves bodies for one step: freely while nothing can be touched, by Box2D near a possible contact.
#pragma once

#include "sim/sim_state.h"

namespace mvsim {

// Moves all bodies for dt s under Workspace::forces. Workspace::step_squares are obstacles. Sets the pose of
// a body that diverges to NaN. Writes the vehicles' collision flags.
void move(const Model& m, SimState& s, Workspace& w, double dt);

}  // namespace mvsim
