// The observation `wheels`: chosen quantities of every wheel at the end of the control period.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Observation> make_wheels_observation(TermReader& reader, TaskContext& context);

}  // namespace mvsim
