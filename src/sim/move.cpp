#include "sim/move.h"

#include <box2d/b2_common.h>
#include <box2d/b2_math.h>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "sim/free_room.h"
#include "sim/measure.h"
#include "sim/solver_bodies.h"
#include "sim/workspace.h"

namespace mvsim {

void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    RotationMemo& yaw) {
  const auto h = static_cast<float>(dt);
  b2Vec2 v(body.vx, body.vy);
  float w = body.omega;
  v += h * inertia.inverse_mass * b2Vec2(force.x, force.y);
  w += h * inertia.inverse_inertia * force.torque;
  v *= 1.0f / (1.0f + h * inertia.linear_damping);
  w *= 1.0f / (1.0f + h * inertia.angular_damping);

  const b2Vec2 translation = h * v;
  if (b2Dot(translation, translation) > b2_maxTranslationSquared)
    v *= b2_maxTranslation / translation.Length();
  const float rotation = h * w;
  if (rotation * rotation > b2_maxRotationSquared) w *= b2_maxRotation / b2Abs(rotation);

  body.vx = v.x;
  body.vy = v.y;
  body.omega = w;
  move_body(body, inertia, {dt * v.x, dt * v.y, dt * w}, [&](double angle) { return yaw.of(angle); });
}

void follow_pose(RoundedPose& rounded, const BodyState& body, const BodyInertia& inertia, Vec2 origin) {
  constexpr double kOff = 1e-4, kTurnedOff = 1e-5;  // m, rad
  double x = body.x - origin.x, y = body.y - origin.y, angle = body.angle;
  if (std::fabs(x) > kRoundedNear || std::fabs(y) > kRoundedNear) [[unlikely]] {
    x -= std::nearbyint(x);
    y -= std::nearbyint(y);
  }
  if (std::fabs(angle) > kPi) [[unlikely]]
    angle -= 2 * kPi * nearest_integer(angle / (2 * kPi));
  if (rounded.is_known && std::fabs(x - rounded.x) <= kOff && std::fabs(y - rounded.y) <= kOff &&
      std::fabs(angle - rounded.angle) <= kTurnedOff) [[likely]]
    return;
  const b2Transform pose(b2Vec2(static_cast<float>(x), static_cast<float>(y)),
                         b2Rot(static_cast<float>(angle)));
  const b2Vec2 center = b2Mul(pose, b2Vec2(inertia.center_x, inertia.center_y));
  rounded = {.x = pose.p.x,
             .y = pose.p.y,
             .angle = static_cast<float>(angle),
             .cx = center.x,
             .cy = center.y,
             .sin = pose.q.s,
             .cos = pose.q.c,
             .is_kept = true,
             .is_known = true};
}

void advance(RoundedPose& rounded, const BodyState& after, const BodyInertia& inertia, double dt) {
  const auto h = static_cast<float>(dt);
  const b2Vec2 c = b2Vec2(rounded.cx, rounded.cy) + h * b2Vec2(after.vx, after.vy);
  rounded.angle += h * after.omega;
  const b2Rot rotation(rounded.angle);
  const b2Vec2 point = c - b2Mul(rotation, b2Vec2(inertia.center_x, inertia.center_y));
  rounded.x = point.x;
  rounded.y = point.y;
  rounded.cx = c.x;
  rounded.cy = c.y;
  rounded.sin = rotation.s;
  rounded.cos = rotation.c;
}

namespace {

constexpr double kMaxSpeed = 1e15;  // m/s and rad/s; its square is far within single precision
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Whether the solver moves the vehicle in any case. Its free motion is then used nowhere.
bool is_held(const SimState& s, size_t vehicle) {
  return s.in_contact && s.vehicles[vehicle].by_solver;
}

// To where the vehicle gets if it touches nothing.
void integrate_freely(const Model& m, SimState& s, Workspace& w, size_t vehicle, double dt) {
  const size_t index = m.vehicles[vehicle].body;
  BodyState& body = s.bodies[index];
  VehicleState& state = s.vehicles[vehicle];
  VehicleWork& mine = w.vehicles[vehicle];
  mine.other = body;
  integrate_free(body, s.inertias[index], mine.force, dt, mine.yaw);
  // rotations at once, in the order in which the next step waits for them
  if (state.rounded.is_kept) {
    mine.other_rounded = state.rounded;
    advance(state.rounded, body, s.inertias[index], dt);
    mine.rounded_yaw.of(state.rounded.angle);
  }
  if (!state.by_solver) mine.yaw.of(body.angle);
  mine.travel = norm(reference_point(body) - reference_point(mine.other));
}

// From where each vehicle was to where it gets freely, or back.
void swap_places(const Model& m, SimState& s, Workspace& w, size_t vehicle) {
  VehicleWork& mine = w.vehicles[vehicle];
  std::swap(s.bodies[m.vehicles[vehicle].body], mine.other);
  RoundedPose& rounded = s.vehicles[vehicle].rounded;
  if (rounded.is_kept) std::swap(rounded, mine.other_rounded);
}

// Updates the state of a vehicle that has moved freely.
void note_free_move(SimState& s, const Workspace& w, size_t vehicle) {
  s.free_distances[vehicle] -= w.vehicles[vehicle].travel;
  s.vehicles[vehicle].in_collision = false;
}

void move_all_freely(const Model& m, SimState& s, Workspace& w) {
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    swap_places(m, s, w, i);
    note_free_move(s, w, i);
  }
}

// Sets the pose of a body to NaN if its motion is too fast for Box2D, and returns whether there is such a
// body. Box2D aborts on NaN, and computes NaN from speeds beyond single precision. is_finite() reports the
// body later.
bool diverges(const Model& m, SimState& s, const Workspace& w, double dt) {
  const auto too_much = [](double value) { return !(std::fabs(value) < kMaxSpeed); };
  bool found = false;
  for (const size_t i : m.moving_bodies) {
    BodyState& b = s.bodies[i];
    if (too_much(b.x) || too_much(b.y) || too_much(b.angle) || too_much(b.vx) || too_much(b.vy) ||
        too_much(b.omega)) {
      b.x = b.y = b.angle = kNoNumber;
      found = true;
    }
  }
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const size_t body = m.vehicles[i].body;
    const BodyInertia& inertia = s.inertias[body];
    const BodyForce& f = w.vehicles[i].force;
    if (too_much(dt * inertia.inverse_mass * f.x) || too_much(dt * inertia.inverse_mass * f.y) ||
        too_much(dt * inertia.inverse_inertia * f.torque)) {
      s.bodies[body].x = kNoNumber;
      found = true;
    }
  }
  return found;
}

bool blocks_rest(const Model& m, const SimState& s) {
  for (const size_t i : m.moving_bodies)
    if (is_movable_block(m, m.bodies[i]) && is_moving(s.bodies[i])) return false;
  return true;
}

void leave_contact(const Model& m, SimState& s, Workspace& w) {
  for (const size_t i : m.moving_bodies)
    if (is_movable_block(m, m.bodies[i])) s.bodies[i].vx = s.bodies[i].vy = s.bodies[i].omega = 0;
  s.in_contact = false;
  w.drop_solver();
  w.apart.drop_steps();
  w.forget_levels();  // blocks lie still from here on
}

// The solver, with those vehicles in it that it holds now.
RigidBodySolver& solver_of_held(const Model& m, const SimState& s, Workspace& w) {
  const bool is_elsewhere = w.solver && !(w.solver->origin() == s.solver_origin);
  if (!w.solver || is_elsewhere || (w.solver_is_stale && !w.solver->refill(s))) {
    w.drop_solver();
    w.solver = std::make_unique<RigidBodySolver>(m, s, std::move(w.spare_world));
  }
  w.solver_is_stale = false;
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (s.vehicles[i].by_solver && !w.solver->has(i)) w.solver->add(s, i);
  return *w.solver;
}

// Box2D makes the steps that were made without it.
void make_up(const Model& m, SimState& s, Workspace& w) {
  if (!w.apart.is_any()) return;
  const VehicleModel& v = m.vehicles[0];
  const ApartSteps::Record record = w.apart.take();
  const BodyState body = s.bodies[v.body];
  const RoundedPose rounded = s.vehicles[0].rounded;
  const Vec2 origin = std::exchange(s.solver_origin, record.origin);
  std::vector<WheelState> wheels(s.wheels);
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const ApartSteps::Step& step = record.steps[i];
    s.bodies[v.body] = step.body;
    s.vehicles[0].rounded = step.rounded;
    for (size_t k = 0; k < wheels.size(); ++k) s.wheels[k].steer = record.steers[i * wheels.size() + k];
    RigidBodySolver& solver = solver_of_held(m, s, w);
    solver.turn_wheels(v, s.wheels);
    solver.set_velocity(v.body, step.body);
    if (!v.controller->imposes_twist()) solver.apply(v.body, step.force);
    solver.set_step_squares({});
    solver.step(step.dt, s);
  }
  for (size_t k = 0; k < wheels.size(); ++k) s.wheels[k].steer = wheels[k].steer;
  s.solver_origin = origin;
  s.vehicles[0].rounded = rounded;
  s.bodies[v.body] = body;
  w.solver->set_velocity(v.body, body);  // an ideal controller has set another one since
}

// Makes the step without Box2D, if a vehicle near things surely touches nothing in it. Returns false and does
// nothing where it may.
bool step_apart(const Model& m, SimState& s, Workspace& w, double dt) {
  if (!ApartSteps::are_possible(m) || w.apart.is_full()) return false;
  const Vec2 origin = s.solver_origin;
  keep_origin_near(m, s);
  if (!(s.solver_origin == origin)) return false;
  const size_t index = m.vehicles[0].body;
  const RoundedPose rounded = s.vehicles[0].rounded;
  integrate_freely(m, s, w, 0, dt);
  const BodyState after = s.bodies[index];
  swap_places(m, s, w, 0);
  if (!w.apart.has_room({{m, s}, w.scene}, after)) return false;
  w.apart.add({dt, w.vehicles[0].force, s.bodies[index], rounded}, s.wheels, origin);
  swap_places(m, s, w, 0);
  s.in_contact = true;
  s.vehicles[0].in_collision = false;
  return true;
}

void move_by_solver(const Model& m, SimState& s, Workspace& w, double dt) {
  s.in_contact = true;
  make_up(m, s, w);
  keep_origin_near(m, s);
  RigidBodySolver& solver = solver_of_held(m, s, w);
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    if (!s.vehicles[i].by_solver) {
      swap_places(m, s, w, i);
      note_free_move(s, w, i);
      continue;
    }
    solver.turn_wheels(m.vehicles[i], wheel_states({m, s}, i));
    // an ideal controller's body is moved by its velocity alone
    if (!m.vehicles[i].controller->imposes_twist()) solver.apply(m.vehicles[i].body, w.vehicles[i].force);
  }
  solver.set_step_squares(w.step_squares);
  w.before.clear();
  for (const size_t i : m.moving_bodies) w.before.push_back(s.bodies[i]);
  solver.step(dt, s);
  keep_clear_of_moved_blocks(m, s, w.before);
  w.forget_movable_ground();
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    VehicleState& v = s.vehicles[i];
    if (!v.by_solver) continue;
    const size_t body = m.vehicles[i].body;
    const double yaw = s.bodies[body].angle;
    if (const Rotation2* const rotation = solver.known_rotation(body, yaw))
      w.vehicles[i].yaw.keep(yaw, *rotation);
    const uint8_t contacts = solver.contacts(body);
    v.in_collision = contacts != 0;
    v.contacts |= contacts;
  }
}

// Box2D for every vehicle: joints hold them together, or the ground is too steep for some.
bool needs_solver(const Model& m, const SimState& s, const Workspace& w) {
  return s.always_solver || !m.joints.empty() || !w.step_squares.empty();
}

bool is_any_held(const SimState& s) {
  for (const VehicleState& v : s.vehicles)
    if (v.by_solver) return true;
  return false;
}

}  // namespace

void move(const Model& m, SimState& s, Workspace& w, double dt) {
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (!is_held(s, i)) integrate_freely(m, s, w, i, dt);
  const bool everyone = needs_solver(m, s, w);
  if (!s.in_contact && !everyone && all_within_reach(s, w)) {
    for (size_t i = 0; i < m.vehicles.size(); ++i) note_free_move(s, w, i);
    return;
  }
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (!is_held(s, i)) swap_places(m, s, w, i);  // back
  if (diverges(m, s, w, dt)) return;
  if (everyone)
    for (VehicleState& v : s.vehicles) v.by_solver = true;
  else
    hold_near_ones(m, s, w, dt);
  if (!s.in_contact && !is_any_held(s)) {
    move_all_freely(m, s, w);
    return;
  }
  if (!everyone && step_apart(m, s, w, dt)) {
    if (!w.apart.may_leave(m, s, w)) return;
    make_up(m, s, w);
  } else {
    move_by_solver(m, s, w, dt);
  }
  if (everyone) return;
  release_free_ones(m, s, w);
  if (!is_any_held(s) && blocks_rest(m, s) && !w.solver->has_overlap()) leave_contact(m, s, w);
}

}  // namespace mvsim
