// Compiles an environment to a task and checks it; explains which keyword an error comes from.
#pragma once

#include <memory>

#include "model/scene_view.h"
#include "task/task.h"

namespace mvsim {

// Loads the worlds, makes the terms, and adds warnings. An error that occurs only with the caller's keywords
// is reported at these. Throws WorldFileError, or Error where options.strict refuses a warning.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options);
// The same with a drawer of the caller's for the views of its sensors.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer);

// Adds a warning for each randomisation of driving parameters that changes nothing in the task. Finds them by
// driving short episodes without sensors.
void warn_of_no_effect(Task& task, const Poll& poll);

// Returns the error of an episode that cannot start. If keywords of the caller cause it, it is reported at
// these.
WorldFileError explain_start(const EnvSpec& spec, const EnvLoadOptions& options, uint64_t key,
                             uint32_t episode, const WorldFileError& error);

}  // namespace mvsim
