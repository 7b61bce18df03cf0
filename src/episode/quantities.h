// Reads and sets quantities of a running env by name: "vehicle:robot/pose", "block:crate*/twist", "goal",
// "time", and every parameter of the simulation by its path. Numbers are in SI units and radians; parameters
// are in the units of environment files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "task/task.h"

namespace mvsim {

struct Quantity;  // a row of the table in quantities.cpp

// One named quantity of one env.
struct QuantityRef {
  const Quantity* quantity = nullptr;  // null: a parameter
  size_t index = 0;                    // of the vehicle, the block or the parameter
  std::string name;                    // for messages
};

struct QuantityList {
  std::vector<QuantityRef> items;  // at least one, in the order of the world
  size_t size = 1;                 // count of numbers of each
  bool is_scalar = true;           // each is one number without a dimension of its own
  bool is_pattern = false;         // the name held a '*'
};

// Returns all names except those of parameters.
std::vector<std::string> quantity_names(const Task& task, const EnvState& env);

// Returns the quantities that `name` matches in the env's current world. Throws Error with the nearest name.
QuantityList find_quantities(const Task& task, const EnvState& env, const std::string& name);

// `out`: items x size. `agent`: the agent of goals and actions.
void read_quantities(const Task& task, const EnvState& env, const QuantityList& list, std::span<double> out,
                     size_t agent = 0);

// Throws Error, before anything is changed, for a quantity that cannot be set or for an invalid value.
void check_quantities(const Task& task, const EnvState& env, const QuantityList& list,
                      std::span<const double> values);
void write_quantities(const Task& task, EnvState& env, const QuantityList& list,
                      std::span<const double> values);

}  // namespace mvsim
