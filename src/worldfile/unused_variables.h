// Which of the caller's variables a world has no use for. Not thread-safe, as LoadState.
#pragma once

#include <string>
#include <vector>

#include "worldfile/load_state.h"

namespace mvsim {

// Names of the variables that nothing asked for and that no file which was read mentions in ${} or $f{}. None
// where an <if> left an <include> out, whose file might ask.
std::vector<std::string> unused_variables(const LoadState& state);

}  // namespace mvsim
