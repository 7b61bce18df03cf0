// Whether the speed controllers of a compiled world settle at its time step: a warning with gains that do.
#pragma once

#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// After the time step is known.
void check_drives(const WorldSpec& spec, Model& model);

}  // namespace mvsim
