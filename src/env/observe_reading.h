// The observation of class `reading`: a sensor of any kind, as its ReadingSpec says.
#pragma once

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Observation> make_reading_observation(TermReader& reader, TaskContext& context);

// The sensor of the agent's vehicle that the attribute `sensor` names.
size_t find_sensor(TermReader& reader, const TaskContext& context);

}  // namespace mvsim
