// AgentSpec -> AgentTask: a vehicle and its terms.
#pragma once

#include <string>

#include "env/task.h"

namespace mvsim {

// Makes the agents of a task whose worlds and times are set, and the reset terms that they share. Throws
// WorldFileError.
void compile_agents(Task& task);

// What a message about `name` begins with: a keyword's place names it already.
inline std::string about(const char* name, const SourceLocation& where) {
  return where.line > 0 ? std::string(name) + ": " : "";
}

}  // namespace mvsim
