// Motion of bodies in a step of Box2D, added to the poses of a state. Poses are kept in double precision,
// Box2D computes in single precision.
#pragma once

#include <box2d/box2d.h>

#include <array>
#include <span>
#include <vector>

#include "sim/body_state.h"
#include "sim/solver_frame.h"
#include "sim/solver_passage.h"

namespace mvsim {

// Puts a body back to the state where single precision has fallen behind slow motion.
void follow(b2Body& body, const SolverPose& pose);

// After a step: the pose, the velocity, and what Box2D has made of a vehicle's rounded pose.
void add_to_state(SimState& state, const BodyModel& kind, size_t index, const SolverFrame& frame,
                  const b2Body& body, const BodyMove& move);

class SolverMoves {
 public:
  void begin(size_t bodies) { moves_.assign(bodies, {}); }
  // Around each call of b2World::Step; the same bodies in the same order.
  void before_step(std::span<const MovingBody> bodies);
  void after_step(std::span<const MovingBody> bodies, double dt);
  const BodyMove& of(size_t body) const { return moves_[body]; }

  const std::vector<BodyMove>& all() const { return moves_; }
  void put_back(const std::vector<BodyMove>& moves) { moves_ = moves; }

 private:
  struct Sweep {
    b2Vec2 center;  // of mass
    float angle;
  };

  std::vector<BodyMove> moves_;
  std::vector<Sweep> before_;
};

}  // namespace mvsim
