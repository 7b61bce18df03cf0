// Which contacts Box2D makes, and when it searches for the time of impact.
#pragma once

#include <box2d/box2d.h>

#include "sim/solver_cells.h"

namespace mvsim {

// The search costs ten times the rest of a step while a body leans on cells of a grid, and it would free a
// body from the squares that stand for steep ground. For all other contacts MVSim's results need it, so it is
// on from the first contact of another kind.
class SolverFilter final : public b2ContactFilter {
 public:
  explicit SolverFilter(b2World& w) : world(w) {}
  bool ShouldCollide(b2Fixture* a, b2Fixture* b) override {
    if (!b2ContactFilter::ShouldCollide(a, b)) return false;
    if (!is_square(*a) && !is_square(*b)) world.SetContinuousPhysics(true);
    ++accepted;
    return true;
  }
  b2World& world;
  int accepted = 0;  // pairs, of which a contact was made
};

}  // namespace mvsim
