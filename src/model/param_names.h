// Parameters by the names that callers give them: paths with `*`, values in the units of `mvsim-gym
// parameters` (degrees for angles, the index of a choice).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace mvsim {

// "found 'x', which is no parameter of the simulation, did you mean..., there are ...".
std::string unknown_parameter(const Model& model, const std::string& pattern);

// Indices of the parameters that a caller may set while the simulation runs. Throws Error if the pattern
// matches none, or the scale of a block of the static geometry.
std::vector<size_t> settable_params(const Model& model, const std::string& pattern);

// Converts a value from the caller's units to the stored ones. Throws Error if it is out of range, not
// finite, or no integer where one is expected.
double stored_value(const ParamEntry& entry, double given);
double given_value(const ParamEntry& entry, double stored);

// The value that a name stands for, of parameters that are choices. Throws Error.
double choice_value(const Model& model, const std::string& pattern, const std::string& name);

}  // namespace mvsim
