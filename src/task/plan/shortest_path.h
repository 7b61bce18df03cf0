// The length of one shortest path, for SPL. It equals that of a GoalField of the whole world, without making
// one.
#pragma once

#include <cstddef>

#include "base/geometry.h"
#include "base/load_guard.h"

namespace mvsim {

class Simulation;

struct PathQuery {
  size_t agent = 0;      // index of the vehicle, which is no obstacle
  double cell = 0.1;     // m, of the planning grid
  double inflation = 0;  // m, distance of a path from all obstacles
  Vec2 start, goal;
  double expected = 0;  // m, estimate of the length; it affects the work, not the result
};

// Returns the length (m) of the shortest path in the current world of `simulation`. It is
// GoalField::distance(start), up to the rounding of its float distances. `poll` is called often and may
// throw.
double shortest_path_length(const Simulation& simulation, const PathQuery& query, const Poll& poll = {});

}  // namespace mvsim
