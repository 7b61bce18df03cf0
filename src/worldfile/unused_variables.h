// Which of the caller's variables a world has no use for. Not thread-safe, as LoadState.
#pragma once

#include <string>
#include <vector>

#include "worldfile/load_state.h"

namespace mvsim {

// Names of the variables that nothing asked for and that no file mentions in ${} or $f{}, those included that
// an <if> left out. None where one of these cannot be read.
std::vector<std::string> unused_variables(const LoadState& state);

}  // namespace mvsim
