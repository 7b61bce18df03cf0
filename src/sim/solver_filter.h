// Which contacts Box2D makes, and when it searches for the time of impact.
#pragma once

#include <box2d/box2d.h>

#include "sim/solver_cells.h"

namespace mvsim {

// That search costs ten times the rest where a body leans on the cells of a grid, and would let it off the
// squares that stand where the ground is too steep. MVSim's results need it elsewhere: on from the first
// contact of another kind.
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
