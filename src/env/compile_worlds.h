// The worlds of a task, with the knobs put into its texts.
#pragma once

#include <string>

#include "env/task.h"

namespace mvsim {

// What a message begins with: a keyword's place names it already.
std::string about(const char* name, const SourceLocation& where);

// What an environment in `folder` may read: the folder's parent (worlds/ beside envs/), unless that is "/".
std::string root_of_env(const std::string& folder);

// Puts the knobs into the texts of `task.spec` and fills `task.models`. Throws WorldFileError, also for a
// knob that nothing uses.
void compile_worlds(Task& task, const EnvLoadOptions& options, LoadGuard& guard);

}  // namespace mvsim
