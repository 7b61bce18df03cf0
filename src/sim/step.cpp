#include <algorithm>
#include <cmath>
#include <utility>

#include "model/compile_parts.h"
#include "model/model.h"
#include "sim/body_state.h"
#include "sim/drive.h"
#include "sim/free_room.h"
#include "sim/move.h"
#include "sim/place.h"
#include "sim/simulation.h"
#include "sim/stand.h"
#include "sim/step_observer.h"

namespace mvsim {

void StepObservers::add(StepObserver& observer, const Model& model) {
  if (!observed_) {
    observed_ = std::make_unique<Observed>();
    observed_->details.tires.resize(model.wheel_count);
    for (const VehicleModel& v : model.vehicles)
      observed_->details.controllers.emplace_back(v.controller->log_names().size());
  }
  observed_->observers.push_back(&observer);
}

// The time step on one page.

namespace {

// Kahan's sum: a clock that adds up a million steps is off by no more than one of them is.
void advance_clock(SimState& s, double dt) {
  const double step = dt - s.time_error;
  const double time = s.time + step;
  s.time_error = (time - s.time) - step;
  s.time = time;
  ++s.step_count;
}

// Limits a command to the motion that Box2D can make in a step, so that twist and readings have the real
// motion.
double within(double value, double most) {
  return std::fabs(value) <= most ? value : std::copysign(most, value);
}

// Runs the second part of the controller (an ideal one imposes its twist), then computes the acceleration.
void observe_body(const Model& m, SimState& s, Workspace& w, size_t index, double dt) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  BodyState& body = s.bodies[v.body];
  if (v.controller->imposes_twist()) {
    const double longest = std::max(dt, m.timestep);
    const double* const command = command_in_force(m, s, index);
    set_body_twist(body,
                   {within(command[0], kMostTravel / longest), 0, within(command[1], kMostTurn / longest)},
                   s.inertias[v.body]);
    if (w.solver) w.solver->set_velocity(v.body, body);
  }
  const Twist2 twist = world_twist(body, s.inertias[v.body], w.vehicles[index].yaw.of(body.angle));
  state.acceleration = 1 / dt * (Vec2{twist.vx, twist.vy} - state.last_velocity);
  state.last_velocity = {twist.vx, twist.vy};
}

void turn_wheels(SimState& s, double dt) {
  for (WheelState& wheel : s.wheels) {
    wheel.angle += wheel.spin * dt;
    if (std::fabs(wheel.angle) > 1e4) wheel.angle = std::fmod(wheel.angle, 2 * kPi);
  }
}

}  // namespace

void Simulation::step(double dt) {
  const Model& m = *model_;
  SimState& s = state_;
  Workspace& w = work_;
  StepDetails* const details = observers_.details();
  const size_t vehicles = m.vehicles.size();
  w.fit(vehicles);
  if (std::exchange(w.placed_blocks, 0) >= kFewestOfHeap) refuse_heap(*this);

  // bodies that move without forces
  if (!m.animations.empty() || !m.walkers.empty()) animate(m, s, w);
  if (!m.driven_blocks.empty()) move_driven_blocks(m, s, w, dt);

  // heights under the wheels, and ground that is too high for them
  w.step_squares.clear();
  for (size_t i = 0; i < vehicles; ++i) {
    if (stands_on_known_ground(m, s, w, i)) continue;
    const double wheel_ground = stand(m, s, w, i);
    if (m.has_steps) find_step_squares(m, s, w, i, wheel_ground);
    learn_ground(m, s, w, i, wheel_ground);
  }

  // controllers and tires: torques and forces
  for (size_t i = 0; i < vehicles; ++i) drive(m, s, w, i, dt, details);

  // contacts and integration
  move(m, s, w, dt);
  const double start = s.time;
  advance_clock(s, dt);

  // ideal controllers, velocities
  for (size_t i = 0; i < vehicles; ++i) observe_body(m, s, w, i, dt);

  // sensors that are due, then wheel angles and odometry
  read_due_sensors(m, s, w.scene, start, dt);
  turn_wheels(s, dt);
  for (size_t i = 0; i < vehicles; ++i) read_odometry(m, s, i, w.vehicles[i].yaw);
  if (details) observers_.after_step(*this, start);
}

}  // namespace mvsim
