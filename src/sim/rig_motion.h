// Motion of vehicles that revolute joints hold together, far from everything.
#pragma once

#include <box2d/b2_math.h>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/model.h"
#include "sim/body_state.h"
#include "sim/move.h"
#include "sim/rig_room.h"
#include "sim/sim_state.h"
#include "sim/solver_bodies.h"
#include "sim/solver_passage.h"

namespace mvsim {

// A vehicle as a body of Box2D.
struct RigBody {
  size_t body = 0;  // of the Model
  BodyInertia inertia;
  b2Vec2 position{0, 0}, center{0, 0};  // m: of the reference point and the centre of mass
  b2Rot rotation{0};
  float angle = 0;            // rad
  b2Vec2 velocity{0, 0};      // m/s, of the centre of mass
  float omega = 0;            // rad/s
  float seconds_of_rest = 0;  // Box2D stops a body that was slow for long
};

// A revolute joint and the impulses that it passed in the last step, N s and N m s.
struct RigJoint {
  size_t a = 0, b = 0;                    // places of its bodies
  b2Vec2 anchor_a{0, 0}, anchor_b{0, 0};  // m, body frames
  b2Vec2 arm_a{0, 0}, arm_b{0, 0};        // the same, from the centres of mass
  bool is_limited = false;
  float reference = 0, lower = 0, upper = 0;  // rad
  b2Vec2 impulse{0, 0};
  float lower_impulse = 0, upper_impulse = 0;
  // of the step, with the rotations before it
  b2Vec2 world_arm_a{0, 0}, world_arm_b{0, 0};
  b2Mat22 inverse_mass{};  // 1/kg, of the point of the joint
  float axial_mass = 0;    // kg m2
  float angle = 0;         // rad
};

// A step of Box2D without its world: its arithmetic in its order, which gives the same bits
// (tests/cpp/sim/rig_room_test.cpp). The equations of the joint are those of b2RevoluteJoint: Catto,
// "Iterative Dynamics with Temporal Coherence", Game Developers Conference 2005.
class RigMotion {
 public:
  // Nothing where the room around the vehicles cannot be known.
  static std::optional<RigMotion> of(const Model& model, const SimState& state);

  // Takes over poses and velocities. Joints have passed nothing yet, as those of a new b2World.
  void begin(const SimState& state, const SolverFrame& frame);
  // Makes a step of `dt` s and adds the motion to the state. Returns false and moves nothing where a vehicle
  // could touch anything in the next steps. `forces` and `moving` are in the order of Model::moving_bodies.
  bool step(double dt, const SolverFrame& frame, std::span<const std::optional<BodyForce>> forces,
            std::span<MovingBody> moving, SimState& state);
  // Brings bodies of Box2D to the state of those here and joins them.
  void hand_over(b2World& world, std::span<const MovingBody> bodies) const;

 private:
  // Vehicles that joints connect, and these joints in the order in which Box2D solves them.
  struct Island {
    std::vector<size_t> bodies, joints;
  };

  RigMotion(const Model& model, Vec2 origin, RigRoom room);
  void find_islands();
  // Longest way of a point of any vehicle in the next step if it touches nothing and no joint holds it, m.
  double longest_way(std::span<const std::optional<BodyForce>> forces, double dt) const;
  void solve(const Island& island, std::span<const std::optional<BodyForce>> forces, float h);
  void add_to(SimState& state, double dt, std::span<MovingBody> moving);

  const Model& model_;
  Vec2 origin_;  // of the solver's frame
  RigRoom room_;
  std::vector<RigBody> bodies_;
  std::vector<RigJoint> joints_;
  std::vector<Island> islands_;
  std::vector<BodySweep> before_;  // scratch, by body
  float last_step_ = 0;            // s; 0: there was none since begin()
};

}  // namespace mvsim
