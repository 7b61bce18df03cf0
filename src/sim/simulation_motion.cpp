// The part of Simulation that moves bodies: freely while nothing can be touched, by Box2D near a possible
// contact.
//
// Each vehicle knows how far it may travel before anything could come nearer than the collision threshold. A
// step that stays within that distance needs no solver. The distance is measured from the circle that holds
// the whole vehicle, so turning does not use it up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/rigid_body_solver.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

constexpr double kLookAhead = 1.5;      // m, farthest distance worth measuring
constexpr double kLeaveContact = 0.05;  // m of free distance before Box2D is left again
constexpr double kMostSpeed = 1e15;     // m/s and rad/s; its square is far within single precision
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kAtRest = 1e-5f;  // m/s and rad/s of a block that counts as lying still

bool is_static(const Model& m, const BodyModel& body) {
  return body.kind == BodyKind::kBlock && m.blocks[body.index].is_static;
}

}  // namespace

void Simulation::set_always_solver(bool always) {
  state_.always_solver = always;
  if (always) state_.in_contact = true;
}

void Simulation::move_bodies(double dt) {
  if (!state_.in_contact && step_squares_.empty() && move_freely(dt)) return;
  if (diverges(dt)) return;
  const Model& m = *model_;
  state_.in_contact = true;
  if (!solver_) solver_ = std::make_unique<RigidBodySolver>(m, state_.params, state_.bodies, state_.wheels);
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const BodyForce& f = forces_[i];
    solver_->turn_wheels(m.vehicles[i], wheels(i));
    // an ideal controller's body is moved by its velocity alone
    if (!m.vehicles[i].controller->imposes_twist()) solver_->apply(m.vehicles[i].body, f);
  }
  solver_->set_step_squares(step_squares_);
  solver_->step(dt, state_.bodies);
  bool alone = step_squares_.empty();
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    VehicleState& v = state_.vehicles[i];
    v.in_collision = solver_->in_collision(m.vehicles[i].body);
    v.had_collision = v.had_collision || v.in_collision;
    alone = alone && !solver_->has_neighbours(m.vehicles[i].body);
  }
  if (alone && !state_.always_solver && m.joints.empty() && blocks_rest()) leave_contact();
}

// Box2D aborts at what is no number, and makes it of speeds that leave single precision. Where a body is at
// that, its pose is given up, for is_finite() to tell.
bool Simulation::diverges(double dt) {
  const auto too_much = [](double value) { return !(std::fabs(value) < kMostSpeed); };
  bool found = false;
  for (BodyState& b : state_.bodies)
    if (too_much(b.x) || too_much(b.y) || too_much(b.angle) || too_much(b.vx) || too_much(b.vy) ||
        too_much(b.omega)) {
      b.x = b.y = b.angle = kNoNumber;
      found = true;
    }
  for (size_t i = 0; i < model_->vehicles.size(); ++i) {
    const size_t body = model_->vehicles[i].body;
    const BodyInertia& inertia = state_.inertias[body];
    const BodyForce& f = forces_[i];
    if (too_much(dt * inertia.inverse_mass * f.force.x) || too_much(dt * inertia.inverse_mass * f.force.y) ||
        too_much(dt * inertia.inverse_inertia * f.torque)) {
      state_.bodies[body].x = kNoNumber;
      found = true;
    }
  }
  return found;
}

// One step without Box2D; false, and nothing changed, if something might be touched.
bool Simulation::move_freely(double dt) {
  const Model& m = *model_;
  const size_t vehicles = m.vehicles.size();
  moved_.resize(vehicles);
  const auto within_reach = [&](size_t i) {
    const BodyState &before = state_.bodies[m.vehicles[i].body], &after = moved_[i];
    const double dx = after.x - before.x, dy = after.y - before.y;
    return std::sqrt(dx * dx + dy * dy) <= state_.free_distances[i];  // false for NaN
  };
  bool free = true;
  for (size_t i = 0; i < vehicles; ++i) {
    const size_t body = m.vehicles[i].body;
    moved_[i] = state_.bodies[body];
    integrate_free(moved_[i], state_.inertias[body], forces_[i], dt);
    free = free && within_reach(i);
  }
  if (!free) {
    measure_free_distances();
    for (size_t i = 0; i < vehicles; ++i)
      if (!within_reach(i)) return false;
  }
  for (size_t i = 0; i < vehicles; ++i) {
    BodyState& body = state_.bodies[m.vehicles[i].body];
    const double dx = moved_[i].x - body.x, dy = moved_[i].y - body.y;
    state_.free_distances[i] -= std::sqrt(dx * dx + dy * dy);
    body = moved_[i];
    state_.vehicles[i].in_collision = false;
  }
  return true;
}

void Simulation::measure_free_distances() {
  const Model& m = *model_;
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const BodyState& b = state_.bodies[m.vehicles[i].body];
    const double margin = m.vehicles[i].radius + m.collision_threshold + kSkins;
    double free = distance_to_static(m.origin + Vec2{b.x, b.y}, kLookAhead + margin) - margin;
    // two vehicles share the room between them
    for (size_t j = 0; j < m.vehicles.size(); ++j) {
      if (j == i) continue;
      const BodyState& other = state_.bodies[m.vehicles[j].body];
      const double between = norm({other.x - b.x, other.y - b.y}) - m.vehicles[j].radius - margin;
      free = std::min(free, between / 2);
    }
    state_.free_distances[i] = free;
  }
}

bool Simulation::blocks_rest() const {
  const Model& m = *model_;
  for (size_t i = 0; i < m.bodies.size(); ++i) {
    if (m.bodies[i].kind != BodyKind::kBlock || is_static(m, m.bodies[i])) continue;
    const BodyState& b = state_.bodies[i];
    if (!(std::fabs(b.vx) < kAtRest && std::fabs(b.vy) < kAtRest && std::fabs(b.omega) < kAtRest))
      return false;
  }
  return true;
}

void Simulation::leave_contact() {
  measure_free_distances();
  for (double free : state_.free_distances)
    if (!(free > kLeaveContact)) return;
  for (size_t i = 0; i < model_->bodies.size(); ++i)
    if (model_->bodies[i].kind == BodyKind::kBlock)
      state_.bodies[i].vx = state_.bodies[i].vy = state_.bodies[i].omega = 0;
  state_.in_contact = false;
  solver_.reset();
}

}  // namespace mvsim
