// A world whose vehicles can start where they stand.
#pragma once

#include "base/load_guard.h"
#include "sim/clearance.h"

namespace mvsim {

// Throws WorldFileError at the first vehicle whose chassis starts inside of a block, a wall, an occupied cell
// or another vehicle.
// `poll` (if any) is called for every vehicle and may throw.
void check_start(const SimScene& sim, const Poll& poll = {});

}  // namespace mvsim
