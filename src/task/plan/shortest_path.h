// The length of one shortest path, for SPL: what a GoalField of the whole world would say, without making it.
#pragma once

#include <cstddef>

#include "base/geometry.h"
#include "base/load_guard.h"

namespace mvsim {

class Simulation;

struct PathQuery {
  size_t agent = 0;      // the vehicle, which is no obstacle
  double cell = 0.1;     // m, of the planning grid
  double inflation = 0;  // m, room that a path keeps from everything
  Vec2 start, goal;
  double expected = 0;  // m, about how long the path is: a guess that decides the work, not the result
};

// Length (m) of the shortest path in the world as `simulation` has it now: GoalField::distance(start), to the
// rounding of its float distances. `poll` is called often and may throw.
double shortest_path_length(const Simulation& simulation, const PathQuery& query, const Poll& poll = {});

}  // namespace mvsim
