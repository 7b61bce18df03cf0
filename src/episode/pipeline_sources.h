// Lists the inputs that the observations of an environment need on a robot, by their class.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/task.h"

namespace mvsim {

// The source of one key of the observation. `needs`: names of Pipeline inputs ("pose", "goal",
// "velocity"...).
struct ObservationSource {
  std::string key, class_name;
  std::vector<std::string> needs;
  std::string sensor;                  // sensor of its readings; "": none
  std::optional<size_t> sensor_index;  // in Model::sensors
  std::string privileged;              // reason why a robot cannot provide it; "": it can
  std::string instead;                 // possible replacement
};

// Returns the sources of an agent's observations, in their order.
std::vector<ObservationSource> observation_sources(const Task& task, const EnvSpec& spec, size_t agent);

// Makes the terms of all agents read the state, as Pipeline needs it: sensors at their own period, velocities
// of the body.
void read_from_state(EnvSpec& spec);

}  // namespace mvsim
