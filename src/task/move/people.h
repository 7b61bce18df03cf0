// People: discs in the world of an environment, declared by <people> or as solid actors of the world.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "task/env_spec.h"
#include "task/env_state.h"
#include "worldfile/world_spec.h"

namespace mvsim {

inline constexpr size_t kMaxPeople = 200;
inline constexpr double kFarFromPeople = 10;   // m; people farther away are not measured
inline constexpr double kPersonalSpace = 0.5;  // m

// One <people>.
struct PeopleSpec {
  std::vector<std::string> names;  // "people1", "people2"...: the name of the element and a number
  double radius = 0.3, height = 1.7;
};

std::vector<PeopleSpec> people_of(const EnvSpec& spec);
// Adds the people to the world as solid actors.
void add_people(const EnvSpec& spec, WorldSpec& world);

bool asks_for_people(const EnvSpec& spec);  // whether there is a <people>, of any number
bool has_people(const Model& model);

struct Person {
  size_t block = 0;   // of the Model
  double radius = 0;  // m
};
std::vector<Person> people_in(const Model& model);

}  // namespace mvsim
