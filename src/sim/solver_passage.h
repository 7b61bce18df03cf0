// Fast bodies in a step of Box2D: their way, passages through others, times of impact.
#pragma once

#include <box2d/box2d.h>
#include <optional>
#include <span>
#include <vector>

#include "sim/body_state.h"
#include "sim/move.h"
#include "sim/sim_state.h"
#include "sim/solver_bodies.h"

namespace mvsim {

// Detects whether a step of Box2D carried a body through another one.
//
// Box2D searches for the time of impact, but it stops bodies with thin skins just before the skins meet, and
// makes no contact then. For two bodies that both move it does not search. Fast bodies then pass through each
// other.

// A body that moves; its user data is its index among those.
struct MovingBody {
  b2Body* body = nullptr;
  float radius = 0;              // m, of a circle about the body's origin that holds all of it
  float thickness = 0;           // m, least width of its chassis or outline
  Contact kind = kTouchesBlock;  // the flag that it sets in bodies that touch it
  LatestRotation yaw{};          // of its angle after the step before
};

// Where a body stood before a step, and how fast it was.
struct BodyStart {
  b2Vec2 position;
  float angle;
  b2Vec2 center;  // of mass
  b2Vec2 velocity;
  float omega;
};

// How much of a passage counts.
struct PassageLimits {
  float travel;      // of a body's thickness: bodies that moved less are not checked
  float max_travel;  // m, the same
  bool squeezed;     // bodies with deep contacts are checked all the same
  float depth;       // of a body's thickness: a body deeper in another has passed
  float max_depth;   // m, the same
  float forgiven;    // of the depth at the start
};
// The limits of a whole step, and of a part of one.
inline constexpr PassageLimits kInStep{
    .travel = 0.25f, .max_travel = 10, .squeezed = true, .depth = 0.25f, .max_depth = 10, .forgiven = 0};
inline constexpr PassageLimits kInPart{.travel = 0.25f,
                                       .max_travel = 0.01f,
                                       .squeezed = false,
                                       .depth = 0.25f,
                                       .max_depth = 0.01f,
                                       .forgiven = 1};

// Longest way that a point of a body goes in a step of `dt` s, m.
double travel_of(const MovingBody& moving, double dt);

// The bodies that Box2D holds, with the longest possible way of each in the next step. `bodies` ascend;
// `place_of` leads from them into `moving` and `forces`, or beyond for a body that is not held.
void find_movers(std::span<const size_t> bodies, std::span<const size_t> place_of,
                 std::span<const MovingBody> moving, std::span<const std::optional<BodyForce>> forces,
                 double dt, std::vector<Mover>& movers);

BodyStart start_of(const b2Body& body);
void put_back(b2Body& body, const BodyStart& start);
// Limits the velocity of a body as Box2D would in a step of `dt` s.
void limit_speed(b2Body& body, float dt);

// Returns whether a body met something on the straight way from its start and is now beyond it, or has left
// it again without a contact. `starts` has an entry for each of `bodies`; `dt` is the length of the step, s.
bool has_passage(const b2World& world, std::span<const MovingBody> bodies, std::span<const BodyStart> starts,
                 float dt, const PassageLimits& limits);

// Smallest width of a convex polygon, m.
float min_width(const b2PolygonShape& polygon);

// Motion of bodies in a step of Box2D, added to the poses of a state. Poses are kept in double precision,
// Box2D computes in single precision.

// Whether single precision has lost slow motion: `pose`, that of the state, is another one.
bool is_off(const SolverPose& body, const SolverPose& pose);
// Sets a body to the pose of the state if it is off.
void follow(b2Body& body, const SolverPose& pose);

// Where the centre of mass of a body is, m, and its angle, rad.
struct BodySweep {
  b2Vec2 center;
  float angle;
};

// Returns the way by the velocity after a step of `dt` s, and the correction by contacts and joints. The
// correction is exactly zero for a body that nothing holds.
BodyMove move_of(const BodySweep& before, const BodySweep& after, b2Vec2 velocity, float omega, double dt);

// Adds the motion of a body in a step to the state; `yaw` is a cache.
void add_to_state(SimState& state, size_t index, const BodyMove& move, b2Vec2 velocity, float omega,
                  LatestRotation& yaw);
// The same after a step of Box2D, with its result for the rounded pose of a vehicle.
void add_to_state(SimState& state, const BodyModel& kind, size_t index, const SolverFrame& frame,
                  MovingBody& moving, const BodyMove& move);

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
  std::vector<BodyMove> moves_;
  std::vector<BodySweep> before_;
};

// Longest way of a point of any of these bodies in a step of `dt` seconds under these forces, if it touches
// nothing, m.
double longest_way(std::span<const MovingBody> bodies, std::span<const std::optional<BodyForce>> forces,
                   double dt);

// Whether Box2D's search for the time of impact, the dearest part of its step, could find any.

// Bodies under these forces stay so far from all else in the next step of `dt` seconds that they cannot
// touch; of bodies that no joints hold. Says nothing where it is false.
bool nothing_meets(const b2World& world, std::span<const MovingBody> bodies,
                   std::span<const std::optional<BodyForce>> forces, double dt);

}  // namespace mvsim
