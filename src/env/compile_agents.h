// AgentSpec -> AgentTask: a vehicle and its terms.
#pragma once

#include "env/task.h"

namespace mvsim {

// Makes the agents of a task whose worlds and times are set, and the reset terms that they share. Throws
// WorldFileError.
void compile_agents(Task& task, LoadGuard& guard);

}  // namespace mvsim
