// Variables and tags of a world that have no effect.
#pragma once

#include <string>
#include <vector>

#include "worldfile/load_state.h"

namespace mvsim {

// Search for variables of the caller that a world does not use. Not thread-safe, as LoadState.

// Returns the names of variables that were not used and that no file mentions in ${} or $f{}. Files that an
// <if> left out count too. Empty if one of these files cannot be read.
std::vector<std::string> unused_variables(const LoadState& state);

}  // namespace mvsim
