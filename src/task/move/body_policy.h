// Seam: what moves a body that nobody learns to drive. One policy a file, a small immutable class shared by
// all envs, one line in body_policies.cpp; whatever changes lies in MoverState.
//
// A policy is asked once a control period, for each body, in the order of the bodies. It sees the world as it
// stands at the start of the period. World frame, SI units.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "task/env_state.h"
#include "task/term_reader.h"

namespace mvsim {

// A body as others see it.
struct Disc {
  Vec2 position, velocity;
  double radius = 0;
};

// What stands still and is nearest to a body.
struct NearestWall {
  double distance =
      std::numeric_limits<double>::infinity();  // m, of the body's centre; beyond sight: infinite
  Vec2 towards;                                 // a unit vector
};

inline constexpr double kSightOfWalls = 2;  // m, of a body's edge

struct BodyView {
  Disc self;
  double yaw = 0;
  double period = 0;             // s, until it is asked again
  std::span<const Disc> others;  // that it is aware of, in the order of the bodies
  NearestWall wall;
};

class BodyPolicy {
 public:
  virtual ~BodyPolicy() = default;
  // The velocity that the body goes on at. `random` is a stream of this body and period.
  virtual Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const = 0;
  // Of a vehicle: the command of its controller. By default forward and towards velocity().
  virtual Twist2 twist(const BodyView& view, MoverState& mover, RandomStream& random, double max_turn) const;
  virtual bool has_goal() const { return true; }     // MoverState::goal is drawn, and anew when it is reached
  virtual bool is_callers() const { return false; }  // MoverState::asked comes from outside
  virtual const std::vector<Vec2>* points() const { return nullptr; }  // of a path that it follows
};

struct BodyPolicyClass {
  std::string_view name;
  std::unique_ptr<const BodyPolicy> (*make)(TermReader& reader);
};

// The first is the default.
std::span<const BodyPolicyClass> body_policies();
// By the attribute `policy`, or throws with the nearest name.
std::unique_ptr<const BodyPolicy> make_body_policy(TermReader& reader);

// Straight to a point at the body's speed, slower where it is nearly there.
Vec2 velocity_to(Vec2 goal, const BodyView& view, const MoverState& mover);
Vec2 limited(Vec2 velocity, double speed);
double signed_angle(Vec2 from, Vec2 to);  // rad, counter-clockwise

// "x y, x y, ...": at least `least` points.
std::vector<Vec2> read_points(TermReader& reader, std::string_view name, size_t least);

std::unique_ptr<const BodyPolicy> make_go_to_goal(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_orca(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_social_force(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_waypoints(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_pure_pursuit(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_random_walk(TermReader& reader);
std::unique_ptr<const BodyPolicy> make_callers(TermReader& reader);

}  // namespace mvsim
