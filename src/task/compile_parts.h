// The steps of compile_task(), and the check of the memory that the compiled task needs.
#pragma once

#include <memory>
#include <string>

#include "model/scene_view.h"
#include "task/task.h"

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

// Makes the agents of a task whose worlds and times are set, and the reset terms that they share. Throws
// WorldFileError.
void compile_agents(Task& task, LoadGuard& guard);

// Makes a task from these parts. `make_drawer` makes the drawer of the views of its sensors. Throws
// WorldFileError or Error. Callers use compile_task() (episode/episode.h), which checks the task as
// well.
std::unique_ptr<Task> assemble_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                    const ViewDrawerMaker& make_drawer);

// Makes the randomisations of the level for the task's agents and their sensors (none without a level), and
// those of the drift of <localization>. Throws
// WorldFileError at the level's place for an unknown one.
std::vector<Randomization> make_level(const Task& task);

}  // namespace mvsim
