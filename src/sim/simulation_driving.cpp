// The part of Simulation that drives: controllers, tires, and the force that they put on the chassis.
#include "sim/simulation.h"
#include "tire/slip.h"
#include "vehicle/load_transfer.h"

namespace mvsim {

void Simulation::control_vehicle(size_t index, double dt) {
  const VehicleModel& v = model_->vehicles[index];
  const double* params = state_.params.data();
  const std::span<WheelState> wheels(state_.wheels.data() + v.first_wheel, v.wheels.size());
  const ControllerInput input{
      .dt = dt,
      .wheels = v.wheels,
      .states = wheels,
      .odometry = odometry_twist(v.wheels, wheels),
      .dynamics_params = params + v.dynamics_params,
      .climbing_force = -params[v.body_params + kChassisMass] * model_->gravity * slope_of(index).x};
  double actuation[kMostActuation] = {};
  v.controller->step(params + v.controller_params, input, state_.vehicles[index].command,
                     state_.memory.data() + v.controller_state, actuation);
  if (StepDetails* details = observers_.details())
    v.controller->log_values(params + v.controller_params, input, state_.vehicles[index].command,
                             state_.memory.data() + v.controller_state, actuation,
                             details->controllers[index].data());
  v.dynamics->drive(params + v.dynamics_params, actuation, v.wheels, wheels);
}

// m/s2 across the ground.
double Simulation::gravity_across(size_t index) const {
  const VehicleState& state = state_.vehicles[index];
  return model_->gravity * sin_cos(state.pitch).cos * sin_cos(state.roll).cos;
}

// Loads under the tire forces of the last step. Returns gravity across the ground, m/s2.
double Simulation::transfer_load(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  const std::span<WheelState> wheels(state_.wheels.data() + v.first_wheel, v.wheels.size());
  const BodyInertia& inertia = state_.inertias[v.body];
  Vec2 force{};
  // an ideal controller's vehicle is not pushed by its wheels
  if (!v.controller->imposes_twist())
    for (const WheelState& w : wheels) force = force + Vec2{w.force_x, w.force_y};
  const double gravity = gravity_across(index);
  balance_loads({.chassis_weight = state_.params[v.body_params + kChassisMass] * gravity,
                 .gravity = gravity,
                 .center = {inertia.center_x, inertia.center_y},
                 .moment = state_.params[*v.load_transfer] * force},
                v.wheels, wheels);
  return gravity;
}

BodyForce Simulation::drive_vehicle(size_t index, double dt) {
  control_vehicle(index, dt);
  const VehicleModel& v = model_->vehicles[index];
  const double across_ground = v.load_transfer ? transfer_load(index) : model_->gravity;
  const double* params = state_.params.data();
  const BodyState& body = state_.bodies[v.body];
  const BodyInertia& inertia = state_.inertias[v.body];
  const Rotation2 R_world_base = yaws_[index].of(body.angle);
  const Vec2 center{inertia.center_x, inertia.center_y};
  const double omega = body.omega;
  PushedBody chassis(body, inertia);
  const Vec2 v_base = R_world_base.unrotate(chassis.velocity());
  const double chassis_share = params[v.body_params + kChassisMass] / static_cast<double>(v.wheels.size());
  const Vec2 slope = slope_of(index);
  // all wheels push at once: each may count on its share of the mass, and on less the more it turns the
  // vehicle
  const double mass_share = 1 / (inertia.inverse_mass * static_cast<double>(v.wheels.size()));
  const double turning = inertia.inverse_inertia / inertia.inverse_mass;  // 1/m2

  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const WheelModel& w = v.wheels[i];
    WheelState& wheel = state_.wheels[v.first_wheel + i];
    const Vec2 velocity{v_base.x - omega * w.position.y, v_base.y + omega * w.position.x};
    const bool straight = wheel.steer == 0;
    const Rotation2 R_base_wheel = straight ? Rotation2() : Rotation2(wheel.steer);
    const double mass = chassis_share + w.mass;
    const double weight = mass * model_->gravity;
    const Vec2 downhill = weight * slope;
    const Vec2 arm = w.position - center;
    GroundPatch ground;
    if (!model_->regions.empty())
      ground = ground_at(model_->origin + Vec2{body.x, body.y} + R_world_base.rotate(w.position));
    const TireInput in{.dt = dt,
                       .torque = wheel.torque,
                       .brake = wheel.brake,
                       .mass = mass,
                       .effective_mass = mass_share / (1 + turning * dot(arm, arm)),
                       .load = v.load_transfer ? wheel.load + w.mass * across_ground : weight,
                       .velocity = R_base_wheel.unrotate(velocity),
                       .spin = wheel.spin,
                       .radius = w.radius,
                       .inertia = w.inertia,
                       .width = w.width,
                       .slope_force = R_base_wheel.unrotate(downhill),
                       .ground = ground};
    const TireOutput out = v.tire->step(params + v.tire_params, in);
    if (StepDetails* details = observers_.details()) details->tires[v.first_wheel + i] = {in, out};
    const Vec2 f = R_base_wheel.rotate(out.force);
    wheel.spin = out.spin;
    wheel.force_x = f.x;
    wheel.force_y = f.y;
    chassis.push(w.position, f);
    if (downhill.x != 0 || downhill.y != 0) chassis.push(w.position, downhill);
  }
  // an ideal controller moves the body itself: wheels turn along but do not push
  if (v.controller->imposes_twist()) return {};
  return chassis.force();
}

Vec2 Simulation::wheel_velocity(size_t index, size_t wheel) const {
  const Twist2 twist = vehicle_twist(index);
  const Vec2 at = model_->vehicles[index].wheels.at(wheel).position;
  return {twist.vx - twist.omega * at.y, twist.vy + twist.omega * at.x};
}

WheelSlip Simulation::wheel_slip(size_t index, size_t wheel) const {
  const VehicleModel& v = model_->vehicles.at(index);
  const WheelModel& w = v.wheels[wheel];
  const WheelState& state = state_.wheels[v.first_wheel + wheel];
  const Vec2 velocity = Rotation2(state.steer).unrotate(wheel_velocity(index, wheel));
  const double load = state.load + w.mass * (v.load_transfer ? gravity_across(index) : model_->gravity);
  const double radius = v.tire->rolling_radius(state_.params.data() + v.tire_params, w.radius, load);
  return {slip_ratio(state.spin * radius, velocity.x), slip_angle(velocity.x, velocity.y)};
}

}  // namespace mvsim
