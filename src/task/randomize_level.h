// The randomisation that a robot meant for the real world is trained with, by a name: <randomize level="none|
// standard|strong"/>.
#pragma once

#include "task/task.h"

namespace mvsim {

// What the level of the task's spec means for its agents' vehicles and their sensors; nothing without one.
// Throws WorldFileError at the level's place for one that there is not.
std::vector<Randomization> make_level(const Task& task);

}  // namespace mvsim
