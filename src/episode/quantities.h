// What a caller reads and sets of a running env by name: "vehicle:robot/pose", "block:crate*/twist", "goal",
// "time", and every parameter of the simulation by its path. Numbers in SI units and radians; parameters in
// the units in which environments give them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "task/task.h"

namespace mvsim {

struct Quantity;  // a row of the table in quantities.cpp

// One named thing of one env.
struct QuantityRef {
  const Quantity* quantity = nullptr;  // null: a parameter
  size_t index = 0;                    // of the vehicle, the block or the parameter
  std::string name;                    // as messages say it
};

struct QuantityList {
  std::vector<QuantityRef> items;  // at least one, in the order of the world
  size_t size = 1;                 // numbers of each
  bool is_scalar = true;           // one number without a dimension of its own
  bool is_pattern = false;         // the name held a '*'
};

// All names but those of parameters.
std::vector<std::string> quantity_names(const Task& task, const EnvState& env);

// What `name` stands for in the env's present world. Throws Error with the nearest name.
QuantityList find_quantities(const Task& task, const EnvState& env, const std::string& name);

// `out`: items x size. `agent`: whose goal and actions.
void read_quantities(const Task& task, const EnvState& env, const QuantityList& list, std::span<double> out,
                     size_t agent = 0);

// Throws Error, before anything is changed, for a quantity that cannot be set or a value that it cannot have.
void check_quantities(const Task& task, const EnvState& env, const QuantityList& list,
                      std::span<const double> values);
void write_quantities(const Task& task, EnvState& env, const QuantityList& list,
                      std::span<const double> values);

}  // namespace mvsim
