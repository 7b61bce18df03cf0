// Observations that have a file of their own, for the registry in observations.cpp.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

// `wheels`: chosen quantities of every wheel at the end of the control period.
std::unique_ptr<const Observation> make_wheels_observation(TermReader& reader, TaskContext& context);

// `height_scan`: how high the ground around the robot lies.
std::unique_ptr<const Observation> make_height_scan(TermReader& reader, TaskContext& context);

}  // namespace mvsim
