// Extension point: policies that move bodies without a learner. One policy a file, a small immutable class
// shared by all envs, with one line in body_policies.cpp. Its state is in MoverState.
//
// A policy is called once a control period for each body, in the order of the bodies. It sees the world at
// the start of the period. World frame, SI units.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "task/env_state.h"
#include "task/term_reader.h"

namespace mvsim {

// A body as other bodies see it.
struct Disc {
  Vec2 position, velocity;
  double radius = 0;
};

// The nearest static body.
struct NearestWall {
  double distance =
      std::numeric_limits<double>::infinity();  // m, from the body's centre; infinite beyond kSightOfWalls
  Vec2 towards;                                 // a unit vector
};

inline constexpr double kSightOfWalls = 2;  // m, from a body's edge

struct BodyView {
  Disc self;
  double yaw = 0;
  double period = 0;             // s, until the next call
  std::span<const Disc> others;  // bodies that it sees, in the order of the bodies
  NearestWall wall;
};

class BodyPolicy {
 public:
  virtual ~BodyPolicy() = default;
  // Returns the velocity of the body for the next period. `random` is a stream of this body and period.
  virtual Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const = 0;
  // Returns the command of a vehicle's controller. By default it drives forward and turns towards velocity().
  virtual Twist2 twist(const BodyView& view, MoverState& mover, RandomStream& random, double max_turn) const;
  virtual bool has_goal() const { return true; }  // MoverState::goal is drawn, again when reached
  // Whether the caller sets the velocity (MoverState::asked).
  virtual bool is_moved_by_caller() const { return false; }
  virtual const std::vector<Vec2>* points() const { return nullptr; }  // points of the path that it follows
};

struct BodyPolicyClass {
  std::string_view name;
  std::unique_ptr<const BodyPolicy> (*make)(TermReader& reader);
};

// The first policy is the default.
std::span<const BodyPolicyClass> body_policies();
// Makes the policy that the attribute `policy` names, or throws with the nearest name.
std::unique_ptr<const BodyPolicy> make_body_policy(TermReader& reader);

// Returns the velocity straight to a point at the body's speed; near the point it is slower.
Vec2 velocity_to(Vec2 goal, const BodyView& view, const MoverState& mover);
Vec2 limited(Vec2 velocity, double speed);
double signed_angle(Vec2 from, Vec2 to);  // rad, counter-clockwise

// Reads "x y, x y, ...": at least `least` points.
std::vector<Vec2> read_points(TermReader& reader, std::string_view name, size_t least);

// Makes a policy of the class Policy, which specialises this in its own file.
template <class Policy>
std::unique_ptr<const BodyPolicy> body_policy(TermReader& reader);

}  // namespace mvsim
