// Poses of bodies for Box2D: near (0, 0) and turned by no more than half a turn, so that single precision
// suffices.
#pragma once

#include <box2d/b2_math.h>

#include "model/model.h"
#include "sim/sim_state.h"

namespace mvsim {

struct SolverPose {
  b2Vec2 position;
  float angle = 0;
};

class SolverFrame {
 public:
  SolverFrame(const Model& model, Vec2 origin) : model_(&model), origin_(origin) {}

  Vec2 origin() const { return origin_; }
  // Joined bodies lose the same whole turns, so that the angle between them stays.
  SolverPose of(const SimState& state, size_t body) const;
  // Where a vehicle has a pose with Box2D's own roundings, and Box2D can go on from it.
  const RoundedPose* rounded(const SimState& state, size_t body) const;

 private:
  const Model* model_;
  Vec2 origin_;  // world frame
};

// Moves the origin near the first body that the solver moves, unless it is near already. Contacts far away
// from that body are rounded coarsely: to 1 mm at 10 km.
void keep_origin_near(const Model& m, SimState& s);

}  // namespace mvsim
