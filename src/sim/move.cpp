// Each vehicle knows how far it may travel before anything could come nearer than the collision threshold. A
// step that stays within that distance needs no solver. The distance is measured from the circle that holds
// the whole vehicle, so turning does not use it up.
#include "sim/move.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/clearance.h"
#include "sim/measure.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

constexpr double kLookAhead = 1.5;      // m, farthest distance worth measuring
constexpr double kLeaveContact = 0.05;  // m of free distance before Box2D is left again
constexpr double kMaxSpeed = 1e15;      // m/s and rad/s; its square is far within single precision
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kAtRest = 1e-5f;  // m/s and rad/s of a block that counts as lying still

bool is_static(const Model& m, const BodyModel& body) {
  return body.kind == BodyKind::kBlock && m.blocks[body.index].traits.is_static;
}

void measure_free_distances(const Model& m, SimState& s, Workspace& w) {
  const SimScene sim{{m, s}, w.scene};
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const BodyState& b = s.bodies[m.vehicles[i].body];
    const double margin = m.vehicles[i].radius + m.collision_threshold + kSkins;
    double free = distance_to_static(sim, m.origin + Vec2{b.x, b.y}, kLookAhead + margin) - margin;
    // two vehicles share the room between them
    for (size_t j = 0; j < m.vehicles.size(); ++j) {
      if (j == i) continue;
      const BodyState& other = s.bodies[m.vehicles[j].body];
      const double between = norm({other.x - b.x, other.y - b.y}) - m.vehicles[j].radius - margin;
      free = std::min(free, between / 2);
    }
    s.free_distances[i] = free;
  }
}

// One step without Box2D; false, and nothing changed, if something might be touched.
bool move_freely(const Model& m, SimState& s, Workspace& w, double dt) {
  const size_t vehicles = m.vehicles.size();
  w.moved.resize(vehicles);
  const auto within_reach = [&](size_t i) {
    const BodyState &before = s.bodies[m.vehicles[i].body], &after = w.moved[i];
    const double dx = after.x - before.x, dy = after.y - before.y;
    return std::sqrt(dx * dx + dy * dy) <= s.free_distances[i];  // false for NaN
  };
  bool free = true;
  for (size_t i = 0; i < vehicles; ++i) {
    const size_t body = m.vehicles[i].body;
    w.moved[i] = s.bodies[body];
    integrate_free(w.moved[i], s.inertias[body], w.forces[i], dt);
    free = free && within_reach(i);
  }
  if (!free) {
    measure_free_distances(m, s, w);
    for (size_t i = 0; i < vehicles; ++i)
      if (!within_reach(i)) return false;
  }
  for (size_t i = 0; i < vehicles; ++i) {
    BodyState& body = s.bodies[m.vehicles[i].body];
    const double dx = w.moved[i].x - body.x, dy = w.moved[i].y - body.y;
    s.free_distances[i] -= std::sqrt(dx * dx + dy * dy);
    body = w.moved[i];
    s.vehicles[i].in_collision = false;
  }
  return true;
}

// Box2D aborts at what is no number, and makes it of speeds that leave single precision. Where a body is at
// that, its pose is given up, for is_finite() to tell.
bool diverges(const Model& m, SimState& s, const std::vector<BodyForce>& forces, double dt) {
  const auto too_much = [](double value) { return !(std::fabs(value) < kMaxSpeed); };
  bool found = false;
  for (BodyState& b : s.bodies)
    if (too_much(b.x) || too_much(b.y) || too_much(b.angle) || too_much(b.vx) || too_much(b.vy) ||
        too_much(b.omega)) {
      b.x = b.y = b.angle = kNoNumber;
      found = true;
    }
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const size_t body = m.vehicles[i].body;
    const BodyInertia& inertia = s.inertias[body];
    const BodyForce& f = forces[i];
    if (too_much(dt * inertia.inverse_mass * f.force.x) || too_much(dt * inertia.inverse_mass * f.force.y) ||
        too_much(dt * inertia.inverse_inertia * f.torque)) {
      s.bodies[body].x = kNoNumber;
      found = true;
    }
  }
  return found;
}

bool blocks_rest(const Model& m, const SimState& s) {
  for (size_t i = 0; i < m.bodies.size(); ++i) {
    if (m.bodies[i].kind != BodyKind::kBlock || is_static(m, m.bodies[i])) continue;
    const BodyState& b = s.bodies[i];
    if (!(std::fabs(b.vx) < kAtRest && std::fabs(b.vy) < kAtRest && std::fabs(b.omega) < kAtRest))
      return false;
  }
  return true;
}

// Back to free motion, if there is room for it.
void leave_contact(const Model& m, SimState& s, Workspace& w) {
  measure_free_distances(m, s, w);
  for (double free : s.free_distances)
    if (!(free > kLeaveContact)) return;
  for (size_t i = 0; i < m.bodies.size(); ++i)
    if (m.bodies[i].kind == BodyKind::kBlock) s.bodies[i].vx = s.bodies[i].vy = s.bodies[i].omega = 0;
  s.in_contact = false;
  w.solver.reset();
  w.levels.clear();  // blocks lie still from here on
}

void move_by_solver(const Model& m, SimState& s, Workspace& w, double dt) {
  s.in_contact = true;
  if (!w.solver) w.solver = std::make_unique<RigidBodySolver>(m, s.params, s.bodies, s.wheels);
  RigidBodySolver& solver = *w.solver;
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    solver.turn_wheels(m.vehicles[i], wheel_states({m, s}, i));
    // an ideal controller's body is moved by its velocity alone
    if (!m.vehicles[i].controller->imposes_twist()) solver.apply(m.vehicles[i].body, w.forces[i]);
  }
  solver.set_step_squares(w.step_squares);
  solver.step(dt, s.bodies);
  w.forget_movable_ground();
  bool alone = w.step_squares.empty();
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    VehicleState& v = s.vehicles[i];
    const uint8_t contacts = solver.contacts(m.vehicles[i].body);
    v.in_collision = contacts != 0;
    v.contacts |= contacts;
    alone = alone && !solver.has_neighbours(m.vehicles[i].body);
  }
  if (alone && !s.always_solver && m.joints.empty() && blocks_rest(m, s)) leave_contact(m, s, w);
}

}  // namespace

void move(const Model& m, SimState& s, Workspace& w, double dt) {
  if (!s.in_contact && w.step_squares.empty() && move_freely(m, s, w, dt)) return;
  if (diverges(m, s, w.forces, dt)) return;
  move_by_solver(m, s, w, dt);
}

}  // namespace mvsim
