#include "sim/apart_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/shape.h"
#include "sim/free_room.h"
#include "sim/rigid_body_solver.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

constexpr double kSlack = 1e-3;       // m, for the rounding of poses in single precision
constexpr double kFarLook = 0.1;      // m; more room is not worth the look
constexpr double kWorthALook = 0.03;  // m; a vehicle that has less room is left to Box2D

// Corners of a wheel seen from above, vehicle frame; of a wheel that turns, those of an octagon around all
// its angles.
void add_corners(const WheelModel& wheel, double steer, bool turns, Polygon& points) {
  if (turns) {
    const double reach = norm(Vec2{wheel.radius, wheel.width / 2}) / std::cos(kPi / 8);
    for (int i = 0; i < 8; ++i) points.push_back(wheel.position + Rotation2(i * kPi / 4).rotate({reach, 0}));
    return;
  }
  const Rotation2 turn(steer);
  for (const double x : {-wheel.radius, wheel.radius})
    for (const double y : {-wheel.width / 2, wheel.width / 2})
      points.push_back(wheel.position + turn.rotate({x, y}));
}

}  // namespace

bool ApartSteps::are_possible(const Model& m) {
  return m.moving_bodies.size() == 1 && m.vehicles.size() == 1 && m.joints.empty() && m.animations.empty() &&
         m.walkers.empty() && m.driven_blocks.empty();
}

double ApartSteps::way_since_look(const SimScene& sim, const BodyState& body) const {
  return norm(Vec2{body.x - looked_at_.x, body.y - looked_at_.y}) +
         sim.model.vehicles[0].radius * std::fabs(body.angle - looked_at_.yaw);
}

bool ApartSteps::hull_holds(std::span<const WheelState> wheels) const {
  for (size_t i = 0; i < wheels.size(); ++i)
    if (!wheel_turns_[i] && wheels[i].steer != steers_of_hull_[i]) return false;
  return !hull_.empty();
}

void ApartSteps::make_hull(const VehicleModel& v, std::span<const WheelState> wheels) {
  Polygon points = v.chassis.outline;
  for (size_t i = 0; i < wheels.size(); ++i) {
    wheel_turns_[i] = wheel_turns_[i] || (!hull_.empty() && wheels[i].steer != steers_of_hull_[i]);
    steers_of_hull_[i] = wheels[i].steer;
    add_corners(v.wheels[i], wheels[i].steer, wheel_turns_[i], points);
  }
  hull_ = convex_hull(std::move(points));
}

void ApartSteps::look(const SimScene& sim) {
  const VehicleModel& v = sim.model.vehicles[0];
  const std::span<const WheelState> wheels = wheel_states(sim, 0);
  steers_of_hull_.resize(wheels.size());
  wheel_turns_.resize(wheels.size());
  if (!hull_holds(wheels)) make_hull(v, wheels);
  looked_at_ = body_pose(sim, v.body);
  const double margin = sim.model.collision_threshold + kSkins + kSlack;
  room_ = distance_to_static_at_least(sim, hull_, looked_at_, v.radius, margin + kFarLook) - margin;
  has_looked_ = true;
}

bool ApartSteps::has_room(const SimScene& sim, const BodyState& after) {
  if (has_looked_ && hull_holds(wheel_states(sim, 0))) {
    if (way_since_look(sim, after) <= room_) return true;
    // the room has grown by no more than the way since
    const BodyState& now = sim.state.bodies[sim.model.vehicles[0].body];
    if (room_ + way_since_look(sim, now) < kWorthALook) return false;
  }
  look(sim);
  return way_since_look(sim, after) <= room_;
}

bool ApartSteps::may_leave(const Model& m, const SimState& s, Workspace& w) {
  const Vec2 here = reference_point(s.bodies[m.vehicles[0].body]);
  if (has_free_distance_ && free_distance_ + norm(here - measured_at_) <= kLeaveContact) return false;
  free_distance_ = free_distance(m, s, w, 0);
  measured_at_ = here;
  has_free_distance_ = true;
  return free_distance_ > kLeaveContact;
}

void ApartSteps::add(const Step& step, std::span<const WheelState> wheels, Vec2 origin) {
  origin_ = origin;
  steps_.push_back(step);
  for (const WheelState& wheel : wheels) steers_.push_back(wheel.steer);
}

ApartSteps::Record ApartSteps::take() {
  return {std::exchange(steps_, {}), std::exchange(steers_, {}), origin_};
}

void ApartSteps::drop_steps() {
  steps_.clear();
  steers_.clear();
}

void ApartSteps::forget() {
  drop_steps();
  has_looked_ = has_free_distance_ = false;
}

}  // namespace mvsim
