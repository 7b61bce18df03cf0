// The steps of compile_task(), and the check of the memory that the compiled task needs.
#pragma once

#include <memory>
#include <string>

#include "env/task.h"
#include "model/view_drawer.h"

namespace mvsim {

// Returns the beginning of a message: "NAME: ", or nothing if the place is a keyword, which has the name
// already.
std::string about(const char* name, const SourceLocation& where);

// Returns the folder that an environment in `folder` may read: its parent (worlds/ beside envs/), unless that
// is "/".
std::string root_of_env(const std::string& folder);

// Puts the knobs into the texts of `task.spec` and fills `task.models`. Throws WorldFileError, also for a
// knob that nothing uses.
void compile_worlds(Task& task, const EnvLoadOptions& options, LoadGuard& guard,
                    const ViewDrawerMaker& make_drawer);

// compile_task() with the caller's camera backend for the views of sensors.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer);

// Makes the agents of a task whose worlds and times are set, and the reset terms that they share. Throws
// WorldFileError.
void compile_agents(Task& task, LoadGuard& guard);

// Adds a warning for each randomisation of driving parameters that changes nothing in the task. Finds them by
// driving short episodes without sensors.
void warn_of_no_effect(Task& task, const Poll& poll);

// Checks memory before it is allocated. Throws Error if the envs alone would need more than the machine's
// physical memory, or envs and worlds more than `memory_limit` (bytes).
void check_memory(const Task& task, int num_envs, uint64_t memory_limit);

}  // namespace mvsim
