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

// Sets a body to the pose of the state if single precision has lost slow motion.
void follow(b2Body& body, const SolverPose& pose);

// Call after a step. Adds the motion of a body to the state: pose, velocity, and Box2D's result for the
// rounded pose of a vehicle.
void add_to_state(SimState& state, const BodyModel& kind, size_t index, const SolverFrame& frame,
                  const b2Body& body, const BodyMove& move);

class SolverMoves {
 public:
  void begin(size_t bodies) { moves_.assign(bodies, {}); }
  // Call these two before and after each b2World::Step, with the same bodies in the same order.
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
