// Wrapper of Box2D, and what callers override in it.
#pragma once

#include <memory>
#include <span>

#include "model/model.h"
#include "sim/body_state.h"
#include "sim/move.h"
#include "sim/sim_state.h"

class b2World;  // NOLINT(readability-identifier-naming): of Box2D

namespace mvsim {

// A world of Box2D without bodies. An emptied one has the memory of the bodies that it had, and the next
// solver in it has the same results as one in a new world.
class SolverWorld {
 public:
  SolverWorld();  // none yet
  SolverWorld(SolverWorld&&) noexcept;
  SolverWorld& operator=(SolverWorld&&) noexcept;
  ~SolverWorld();

  b2World& get();  // makes it at the first call
  void clear();    // destroys all bodies, and forgets filter and listener

 private:
  std::unique_ptr<b2World> world_;
};

// Wrapper of Box2D: contacts, ground friction of blocks, integration. A step adds the motion of Box2D's
// bodies to a SimState. A solver is filled from the state in document order and holds no state of its own.

// Distance, m, beyond the collision threshold at which outlines are surely not near each other. It covers the
// skins of two wheels, which are the thickest, and rounding.
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
  RigidBodySolver(const Model& model, const SimState& state, SolverWorld world = {});
  ~RigidBodySolver();

  // Returns the world for another solver. Nothing but the destructor may be called after it.
  SolverWorld give_up();

  // Brings the solver to the state of a newly made one. Between the state it was made of and this one, only
  // poses, velocities and the vehicles that the solver holds may have changed. Returns false and does nothing
  // if the result might differ from that of a new solver.
  bool refill(const SimState& state);

  Vec2 origin() const;  // SimState::solver_origin at construction; constant
  bool has(size_t vehicle) const;
  void add(const SimState& state, size_t vehicle);
  void remove(size_t vehicle);

  // set_velocity() and set_pose() ignore a vehicle that the solver does not hold.
  void set_velocity(size_t body, const BodyState& state);
  // Sets pose and velocity of a body from the state. A static body is set only if an environment places it.
  void set_pose(const Model& model, const SimState& state, size_t body);
  void apply(size_t body, const BodyForce& force);
  // Turns the boxes of the wheels to their steering angles. The body's mass properties do not change.
  void turn_wheels(const VehicleModel& vehicle, std::span<const WheelState> wheels);
  // Replaces the squares that block the way in the next step.
  void set_step_squares(std::span<const StepSquare> squares);
  // Makes one step of `dt` s. Moves every body of the state that can move and that the solver holds.
  void step(double dt, SimState& state);
  // Returns whether a body overlaps another one by more than contacts at rest do. The next steps push them
  // apart.
  bool has_overlap() const;
  // Returns whether a part of the body is so near to another body that Box2D checks the pair for contact.
  bool has_neighbours(size_t body) const;
  // Returns the rotation by `yaw` if the last step computed it for the body, or null. Valid until the next
  // step.
  const Rotation2* known_rotation(size_t body, double yaw) const;
  // Returns the kinds of things that the body touches or is closer to than the model's collision threshold:
  // bits of Contact (sim_state.h).
  uint8_t contacts(size_t body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Functions of Box2D that the core has its own of: quicker, and the same bits.
//
// The calls of Debian's library go through the dynamic linker, which finds ours first. Where it does not,
// steps only take longer.

// Does nothing. A call of it makes the linker take this object file of the static library.
void use_own_box2d_functions();

}  // namespace mvsim
