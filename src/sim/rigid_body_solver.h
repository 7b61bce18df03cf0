// Wrapper of Box2D: contacts, ground friction of blocks, integration. A step adds the motion of Box2D's
// bodies to a SimState. A solver is filled from the state in document order and holds no state of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/model.h"
#include "sim/body_state.h"
#include "sim/free_motion.h"
#include "sim/sim_state.h"

namespace mvsim {

// m; what outlines must be apart beyond the collision threshold so that nothing is near: the skins of two
// wheels, the thickest, and rounding.
inline constexpr double kSkins = 0.021;

// A square, parallel to the axes, that stands in the way where the ground rises too steeply.
struct StepSquare {
  Vec2 center;
  double half_side = 0;

  friend bool operator==(const StepSquare& a, const StepSquare& b) {
    return a.center == b.center && a.half_side == b.half_side;
  }
};

class RigidBodySolver {
 public:
  // Holds the blocks that can move, the vehicles that the state gives to it (VehicleState::by_solver), and
  // static blocks as soon as one of these comes near. Throws Error for a body too thin for the solver.
  RigidBodySolver(const Model& model, const SimState& state);
  ~RigidBodySolver();

  // As if it were made anew of this state, of which nothing but poses, velocities and what the solver holds
  // has changed since it was made. False where that is not known to be the same, and nothing is done.
  bool refill(const SimState& state);

  Vec2 origin() const;  // SimState::solver_origin when it was made, which it keeps
  bool has(size_t vehicle) const;
  void add(const SimState& state, size_t vehicle);
  void remove(size_t vehicle);

  // These two pass over a vehicle that is not here.
  void set_velocity(size_t body, const BodyState& state);
  // Puts a body to where it is in the state, at its velocity; of static ones only those that an environment
  // places.
  void set_pose(const Model& model, const SimState& state, size_t body);
  void apply(size_t body, const BodyForce& force);
  // Turns the boxes of the wheels to where they steer; the body's mass properties stay as they were.
  void turn_wheels(const VehicleModel& vehicle, std::span<const WheelState> wheels);
  // Replaces the squares that block the way in the next step.
  void set_step_squares(std::span<const StepSquare> squares);
  // One step; moves every body of the state that can move and is here.
  void step(double dt, SimState& state);
  // Some body overlaps another one by more than contacts do at rest: the next steps push them apart.
  bool has_overlap() const;
  // Some part of the body is near enough to another's for Box2D to look closer.
  bool has_neighbours(size_t body) const;
  // Returns the kinds of things that the body touches or is closer to than the model's collision threshold:
  // bits of Contact (sim_state.h).
  uint8_t contacts(size_t body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mvsim
