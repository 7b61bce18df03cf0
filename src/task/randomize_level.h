// <randomize level="none|standard|strong"/>: a named randomisation for robots that are to be used in the real
// world.
#pragma once

#include "task/task.h"

namespace mvsim {

// Makes the randomisations of the level for the task's agents and their sensors (none without a level), and
// those of the drift of <localization>. Throws
// WorldFileError at the level's place for an unknown one.
std::vector<Randomization> make_level(const Task& task);

}  // namespace mvsim
