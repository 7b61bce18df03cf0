// What the observations of an environment need on a robot, by their class.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/task.h"

namespace mvsim {

// Of one key of the observation. `needs`: names of what a Pipeline takes ("pose", "goal", "velocity"...).
struct ObservationSource {
  std::string key, class_name;
  std::vector<std::string> needs;
  std::string sensor;                  // whose readings it shows; "": none
  std::optional<size_t> sensor_index;  // in Model::sensors
  std::string privileged;              // why no robot has it; "": it has
  std::string instead;                 // what may be given in its place
};

// Of an agent's observations, in their order.
std::vector<ObservationSource> observation_sources(const Task& task, const EnvSpec& spec, size_t agent);

// Makes the terms of all agents read what stands in the state, as Pipeline needs it: sensors at their own
// period, velocities of the body.
void read_from_state(EnvSpec& spec);

}  // namespace mvsim
