// The steps of compile_task(), and the check of what the compiled task takes.
#pragma once

#include <memory>
#include <string>

#include "env/task.h"
#include "model/view_drawer.h"

namespace mvsim {

// What a message begins with: a keyword's place names it already.
std::string about(const char* name, const SourceLocation& where);

// What an environment in `folder` may read: the folder's parent (worlds/ beside envs/), unless that is "/".
std::string root_of_env(const std::string& folder);

// Puts the knobs into the texts of `task.spec` and fills `task.models`. Throws WorldFileError, also for a
// knob that nothing uses.
void compile_worlds(Task& task, const EnvLoadOptions& options, LoadGuard& guard,
                    const ViewDrawerMaker& make_drawer);

// compile_task() with a drawer of the caller's for what its sensors see.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer);

// Makes the agents of a task whose worlds and times are set, and the reset terms that they share. Throws
// WorldFileError.
void compile_agents(Task& task, LoadGuard& guard);

// Adds a warning for each randomisation of how a vehicle drives that changes nothing in the task. It drives
// short episodes to find them, without sensors.
void warn_of_no_effect(Task& task, const Poll& poll);

// Throws Error if so many copies alone would take more than the machine's physical memory, or with the worlds
// more than the limit (bytes). Asked before anything is allocated.
void check_memory(const Task& task, int num_envs, uint64_t memory_limit);

}  // namespace mvsim
