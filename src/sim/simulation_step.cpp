// The part of Simulation that steps: the order of one time step on one page, durations, the clock.
#include <cmath>

#include "sim/body_twist.h"
#include "sim/rigid_body_solver.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

constexpr double kShortestStep = 1e-3;  // of a time step: what run() makes a step of

}  // namespace

void Simulation::step(double dt) {
  const size_t vehicles = model_->vehicles.size();

  // heights under the wheels, and what is too high for them
  step_squares_.clear();
  for (size_t i = 0; i < vehicles; ++i) {
    const double wheel_ground = update_terrain(i);
    if (model_->has_steps) find_step_squares(i, wheel_ground);
  }

  // controllers and tires: torques and forces
  forces_.resize(vehicles);
  yaws_.resize(vehicles);
  for (size_t i = 0; i < vehicles; ++i) forces_[i] = drive_vehicle(i, dt);

  // contacts and integration
  move_bodies(dt);
  const double start = state_.time;
  advance_clock(dt);
  ++state_.step_count;

  // ideal controllers, velocities
  for (size_t i = 0; i < vehicles; ++i) observe_body(i, dt);

  // sensors that are due, then wheel angles and odometry
  read_due_sensors(*model_, state_, scene_, start, dt);
  for (size_t i = 0; i < vehicles; ++i) integrate_wheels(i, dt);
  if (observers_.details()) observers_.after_step(*this, start);
}

void Simulation::run(double duration, const std::function<void()>& after_step) {
  if (!(duration >= 0) || !std::isfinite(duration))
    throw Error("cannot run for " + std::to_string(duration) + " s: expected a finite duration >= 0");
  const double whole = model_->timestep, shortest = kShortestStep * whole;
  double left = state_.owed + duration;
  state_.owed = 0;
  while (left >= shortest) {
    const double dt = left > whole - shortest ? whole : left;
    step(dt);
    left -= dt;
    if (after_step) after_step();
  }
  state_.owed = left;
}

// Kahan's sum: a clock that adds up a million steps is off by no more than one of them is.
void Simulation::advance_clock(double dt) {
  const double step = dt - state_.time_error;
  const double time = state_.time + step;
  state_.time_error = (time - state_.time) - step;
  state_.time = time;
}

void Simulation::observe_body(size_t index, double dt) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  BodyState& body = state_.bodies[v.body];
  if (v.controller->imposes_twist()) {
    set_body_twist(body, {state.command[0], 0, state.command[1]}, state_.inertias[v.body]);
    if (solver_) solver_->set_velocity(v.body, body);
  }
  const Twist2 twist = world_twist(body, state_.inertias[v.body], yaws_[index].of(body.angle));
  state.acceleration = 1 / dt * (Vec2{twist.vx, twist.vy} - state.last_velocity);
  state.last_velocity = {twist.vx, twist.vy};
}

void Simulation::integrate_wheels(size_t index, double dt) {
  const VehicleModel& v = model_->vehicles[index];
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    WheelState& wheel = state_.wheels[v.first_wheel + i];
    wheel.angle += wheel.spin * dt;
    if (std::fabs(wheel.angle) > 1e4) wheel.angle = std::fmod(wheel.angle, 2 * kPi);
  }
  read_odometry(*model_, state_, index, yaws_[index]);
}

}  // namespace mvsim
