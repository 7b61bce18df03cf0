#include "sim/drive.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "model/transfer_params.h"
#include "sim/stand.h"
#include "sim/workspace.h"
#include "tire/shaft.h"
#include "vehicle/wheel.h"

namespace mvsim {
namespace {

// Returns the share of its mass that the force of each wheel may stop across in one step, so that all wheels
// together do not turn the vehicle beyond rest. They stop m and I as
//   d(vy, omega) = -(s0 vy + s1 omega, (s1 vy + s2 omega) m / I),  sk = sum of m_i x_i^k / m,
// which leads beyond rest where the largest eigenvalue is above 1, and never ends above 2.
double steady_share(std::span<const WheelInput> inputs, const BodyInertia& inertia) {
  const double turning = inertia.inverse_inertia / inertia.inverse_mass;  // 1/m2
  double s0 = 0, s1 = 0, s2 = 0;
  for (const WheelInput& wheel : inputs) {
    const double mass = wheel.tire.mass * inertia.inverse_mass, x = wheel.position.x - inertia.center_x;
    s0 += mass;
    s1 += mass * x;
    s2 += mass * x * x;
  }
  const double half = 0.5 * (s0 - turning * s2);
  const double largest = 0.5 * (s0 + turning * s2) + std::sqrt(half * half + turning * s1 * s1);
  return largest > 1 ? 1 / largest : 1;
}

}  // namespace

void WheelInputs::make(const Model& m, const SimState& s, size_t vehicle) {
  const VehicleModel& v = m.vehicles[vehicle];
  const double* const params = s.params.data();
  const double* const transfer = params + v.transfer_params;
  const BodyInertia& inertia = s.inertias[v.body];
  const Vec2 center{inertia.center_x, inertia.center_y};
  const auto count = static_cast<double>(v.wheels.size());
  const double chassis_share = params[v.body_params + kChassisMass] / count;
  // all wheels push at once: each may count on its share of the mass, and on less the more it turns the
  // vehicle
  const double mass_share = 1 / (inertia.inverse_mass * count);
  const double turning = inertia.inverse_inertia / inertia.inverse_mass;  // 1/m2
  motor_ = v.drive.motor ? wheel_motor(params + *v.drive.motor) : WheelMotor();
  const double damping = v.drive.driver == MotorDriver::kVoltage ? motor_.slope : 0;
  const double spread = WheelStance(v.wheels).spread_ratio() / (transfer[kTrack] * transfer[kTrack]);
  rotations_.resize(v.wheels.size());
  inputs_.clear();
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const WheelModel& wheel = v.wheels[i];
    const Vec2 position{wheel.position.x, transfer[kTrack] * wheel.position.y};
    const Vec2 arm = position - center;
    const double mass = chassis_share + wheel.mass;
    const double weight = mass * m.gravity;
    const double share = v.drive.motor ? v.dynamics->motor_share(params + v.dynamics_params, i) : 0;
    inputs_.push_back({.position = position,
                       .weight = weight,
                       .tire = {.mass = mass,
                                .effective_mass = mass_share / (1 + turning * dot(arm, arm)),
                                .load = weight,
                                .radius = transfer[kTransferParamCount + i],
                                .inertia = wheel.inertia + share * motor_.inertia,
                                .width = wheel.width,
                                .motor_damping = share * damping,
                                .wheel_spread = spread}});
  }
  // a file that states no inertia has that of its outline, and moves as MVSim moves it
  const bool is_stated = params[v.body_params + kChassisInertia] >= 0;
  const double share = is_stated ? steady_share(inputs_, inertia) : 1;
  for (WheelInput& wheel : inputs_) wheel.tire.holding_mass = share * wheel.tire.mass;
  row_ = row_of(v, inputs_);
  known_ = true;
}

void NearRegions::look(const Model& m, const SimState& s, size_t vehicle, Vec2 at) {
  constexpr double kSlack = 1e-3;  // m, beyond any rounding
  const VehicleModel& v = m.vehicles[vehicle];
  const double track = s.params[v.transfer_params + kTrack];
  double reach = 0;
  for (const WheelModel& w : v.wheels)
    reach = std::max(reach, norm(Vec2{w.position.x, track * w.position.y}));
  const double far = reach + kRoom + kSlack;
  found_.clear();
  for (size_t i = 0; i < m.regions.size(); ++i) {
    const double* box = s.params.data() + m.regions[i].box;
    if (std::fabs(at.x - box[kRegionX]) <= box[kRegionSizeX] / 2 + far &&
        std::fabs(at.y - box[kRegionY]) <= box[kRegionSizeY] / 2 + far)
      found_.push_back(i);
  }
  center_ = at;
  known_ = true;
}

namespace {

std::span<WheelState> wheels_of(SimState& s, const VehicleModel& v) {
  return {s.wheels.data() + v.first_wheel, v.wheels.size()};
}

// Returns the ground at a point with the properties of the regions there; `near`: regions that may contain
// it.
GroundPatch ground_at(const Model& m, const SimState& s, const std::vector<size_t>& near, Vec2 point) {
  GroundPatch out;
  constexpr double kEdge = 1e-9;  // m: edges belong to the box, however its centre was rounded
  unsigned decided = 0;           // a bit a property: its first region counts
  for (const size_t index : near) {
    const RegionModel& region = m.regions[index];
    const unsigned bit = 1u << static_cast<unsigned>(region.property);
    const double* box = s.params.data() + region.box;
    if ((decided & bit) || std::fabs(point.x - box[kRegionX]) > box[kRegionSizeX] / 2 + kEdge ||
        std::fabs(point.y - box[kRegionY]) > box[kRegionSizeY] / 2 + kEdge)
      continue;
    decided |= bit;
    if (region.value < 0) continue;
    const double value = s.params[static_cast<size_t>(region.value)];
    switch (region.property) {
      case GroundProperty::kMu:
        out.mu = value;
        break;
      case GroundProperty::kCRr:
        out.c_rr = value;
        break;
      case GroundProperty::kSurface:
        out.surface = static_cast<int>(value);
        break;
      case GroundProperty::kConeIndex:
        out.cone_index = value;
        break;
    }
  }
  return out;
}

// As x == 0, in a third of the instructions.
bool is_zero(double x) {
  return std::bit_cast<uint64_t>(x) << 1 == 0;
}

// Returns whether a vector has the same bits in the frames of the vehicle and of the wheel. This holds for a
// wheel that steers straight ahead, unless a component is 0: the rotation may change its sign.
bool is_same_on(Vec2 v, const WheelState& wheel) {
  return is_zero(wheel.steer) && !is_zero(v.x) && !is_zero(v.y);
}

// A step of a vehicle: its motion before it, and the ground under it.
struct VehicleStep {
  double dt = 0;         // s
  Vec2 slope;            // m/s2, vehicle frame
  double gravity = 0;    // m/s2, across the ground
  Rotation2 rotation{};  // R_world_base
  Vec2 place{};          // m, of the reference point, world frame
  VehicleMotion motion{};
  const std::vector<size_t>* regions = nullptr;  // that may contain a wheel; null: the Model has none

  bool is_level() const { return slope.x == 0 && slope.y == 0; }
  // Level ground of the tire's own parameters.
  bool is_plain() const { return is_level() && (!regions || regions->empty()); }
};

// Sets what the tires of a vehicle need of this step.
void set_inputs(const Model& m, const SimState& s, const VehicleModel& v, const VehicleStep& now,
                std::span<WheelInput> inputs, std::span<RotationMemo> rotations) {
  const bool is_level = now.is_level();
  const auto [v_base, omega] = now.motion;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const WheelState& wheel = s.wheels[v.first_wheel + i];
    const Vec2 position = inputs[i].position;
    const Vec2 velocity{v_base.x - omega * position.y, v_base.y + omega * position.x};
    TireInput& in = inputs[i].tire;
    in.dt = now.dt;
    in.torque = wheel.torque;
    in.brake = wheel.brake;
    in.velocity =
        is_same_on(velocity, wheel) ? velocity : rotation_of(rotations[i], wheel).unrotate(velocity);
    in.spin = wheel.spin;
    in.slope_force =
        is_level ? Vec2() : rotation_of(rotations[i], wheel).unrotate(inputs[i].weight * now.slope);
    if (v.load_transfer) in.load = wheel.load + v.wheels[i].mass * now.gravity;
    if (now.regions)
      in.ground = now.regions->empty()
                      ? GroundPatch()
                      : ground_at(m, s, *now.regions, now.place + now.rotation.rotate(position));
  }
}

// Loads under the tire forces of the last step, with the chassis' centre at a height. Returns gravity across
// the ground, m/s2.
double transfer_load(const Model& m, SimState& s, size_t index, const WheelStance& stance, const Tilt& tilt) {
  const VehicleModel& v = m.vehicles[index];
  const std::span<WheelState> wheels = wheels_of(s, v);
  const BodyInertia& inertia = s.inertias[v.body];
  Vec2 force{};
  // an ideal controller's vehicle is not pushed by its wheels
  if (!v.controller->imposes_twist())
    for (const WheelState& wheel : wheels) force = force + Vec2{wheel.force_x, wheel.force_y};
  const double gravity = gravity_across(m, tilt);
  balance_loads(stance,
                {.chassis_weight = s.params[v.body_params + kChassisMass] * gravity,
                 .gravity = gravity,
                 .center = {inertia.center_x, inertia.center_y},
                 .moment = s.params[*v.load_transfer] * force},
                v.wheels, wheels);
  return gravity;
}

// Keeps what a wheel's step gave. The force is in the frame of its wheel, until push().
void keep(const VehicleModel& v, size_t wheel, const TireInput& in, const TireOutput& out,
          std::span<WheelState> wheels, StepDetails* details) {
  if (details) details->tires[v.first_wheel + wheel] = {in, out};
  wheels[wheel].spin = out.spin;
  wheels[wheel].force_x = out.force.x;
  wheels[wheel].force_y = out.force.y;
}

// Spins and forces after the step. In a round of its own: the processor works on the next wheel while it
// waits for the one before.
void step_tires(const VehicleModel& v, const double* params, std::span<const WheelInput> inputs,
                std::span<WheelState> wheels, StepDetails* details) {
  for (size_t i = 0; i < wheels.size(); ++i)
    keep(v, i, inputs[i].tire, v.tire->step(params, inputs[i].tire), wheels, details);
}

// Makes the step of wheels of which those of a side turn alike. They are in the order of
// differential_4_wheels: left, right, left, right.
void step_coupled_tires(const VehicleModel& v, const double* params, std::span<const WheelInput> inputs,
                        std::span<WheelState> wheels, StepDetails* details) {
  for (size_t rear = 0; rear < 2; ++rear) {
    const size_t front = rear + 2;
    const ShaftStep side = step_on_shaft(*v.tire, params, inputs[rear].tire, inputs[front].tire,
                                         wheels[rear].force_x, wheels[front].force_x);
    keep(v, rear, inputs[rear].tire, side.rear, wheels, details);
    keep(v, front, inputs[front].tire, side.front, wheels, details);
    if (!details) continue;
    details->tires[v.first_wheel + rear].in.torque += side.passed;
    details->tires[v.first_wheel + front].in.torque -= side.passed;
  }
}

// Share of the last step's force that a wheel of imposed spin begins with. Without it a steady force would
// need much more slip; with all of it forces would swing for ever. The slip that is left goes with the time
// step.
constexpr double kKeptForce = 0.9;

// Makes the step of wheels whose spins are commanded, and computes the torques that this needs. The tire
// model gets a wheel as heavy as the mass that it carries, so that its force removes slip within few steps.
// `params` are all parameters of the state.
void step_imposed_tires(const VehicleModel& v, const double* params, std::span<WheelInput> inputs,
                        std::span<WheelState> wheels, StepDetails* details) {
  for (size_t i = 0; i < wheels.size(); ++i) {
    WheelState& wheel = wheels[i];
    TireInput in = inputs[i].tire;
    const bool is_driven = v.dynamics->motor_share(params + v.dynamics_params, i) > 0;
    const double before = in.spin;
    if (is_driven) {
      in.spin = wheel.torque;  // rad/s, as the controller's actuation has it
      in.torque = kKeptForce * wheel.force_x * in.radius;
      in.inertia = (in.effective_mass > 0 ? in.effective_mass : in.mass) * in.radius * in.radius;
    }
    const TireOutput out = v.tire->step(params + v.tire_params, in);
    if (details) details->tires[v.first_wheel + i] = {in, out};
    wheel.force_x = out.force.x;
    wheel.force_y = out.force.y;
    wheel.spin = out.spin;
    if (!is_driven) continue;
    const double resisted = in.inertia * (in.spin - out.spin),
                 turned = v.wheels[i].inertia * (in.spin - before);
    wheel.torque = in.torque + (resisted + turned) / in.dt;
    wheel.spin = in.spin;
  }
}

void step_one_by_one(const VehicleModel& v, const double* params, std::span<WheelInput> inputs,
                     std::span<WheelState> wheels, StepDetails* details) {
  if (v.controller->imposes_spins())
    step_imposed_tires(v, params, inputs, wheels, details);
  else if (v.drive.coupled_sides)
    step_coupled_tires(v, params + v.tire_params, inputs, wheels, details);
  else
    step_tires(v, params + v.tire_params, inputs, wheels, details);
}

// The forces of the tires, turned into the frame of the vehicle, and the slope on its chassis.
void push(PushedBody& chassis, std::span<const WheelInput> inputs, std::span<RotationMemo> rotations,
          std::span<WheelState> wheels, Vec2 slope) {
  const bool is_level = slope.x == 0 && slope.y == 0;
  for (size_t i = 0; i < wheels.size(); ++i) {
    WheelState& wheel = wheels[i];
    Vec2 force{wheel.force_x, wheel.force_y};
    if (!is_same_on(force, wheel)) {
      force = rotation_of(rotations[i], wheel).rotate(force);
      wheel.force_x = force.x;
      wheel.force_y = force.y;
    }
    chassis.push(inputs[i].position, force);
    if (!is_level) chassis.push(inputs[i].position, inputs[i].weight * slope);
  }
}

}  // namespace

void set_loads(const Model& m, SimState& s, size_t index) {
  const VehicleModel& v = m.vehicles[index];
  if (v.load_transfer) {
    transfer_load(m, s, index, WheelStance(v.wheels), TiltMemo().of(s.vehicles[index]));
    return;
  }
  const double share = s.params[v.body_params + kChassisMass] / static_cast<double>(v.wheels.size());
  for (WheelState& wheel : wheels_of(s, v)) wheel.load = share * m.gravity;
}

void drive(const Model& m, SimState& s, Workspace& work, size_t index, double dt, StepDetails* details) {
  const VehicleModel& v = m.vehicles[index];
  VehicleWork& mine = work.vehicles[index];
  const std::span<WheelState> wheels = wheels_of(s, v);
  const Vec2 slope = slope_of(s.vehicles[index], mine.tilt);
  const std::span<WheelInput> inputs = mine.wheels.of(m, s, index);
  const std::span<RotationMemo> rotations = mine.wheels.steer_rotations();
  control(m, s, index, dt, slope, mine, details);
  VehicleStep now{.dt = dt, .slope = slope, .gravity = m.gravity};
  if (v.load_transfer) {
    if (!mine.stance) mine.stance.emplace(v.wheels);
    now.gravity = transfer_load(m, s, index, *mine.stance, mine.tilt.of(s.vehicles[index]));
  }
  const BodyState& body = s.bodies[v.body];
  RoundedPose& rounded = s.vehicles[index].rounded;
  if (rounded.is_kept) follow_pose(rounded, body, s.inertias[v.body], s.solver_origin);
  now.rotation = rounded.is_kept ? mine.rounded_yaw.of(rounded.angle) : mine.yaw.of(body.angle);
  PushedBody chassis = rounded.is_kept ? PushedBody(body, s.inertias[v.body], rounded)
                                       : PushedBody(body, s.inertias[v.body], now.rotation);
  now.place = reference_point(body);
  now.motion = {now.rotation.unrotate(chassis.velocity()), body.omega};
  if (!m.regions.empty()) now.regions = &mine.regions.of(m, s, index, now.place);

  const double* const params = s.params.data();
  VehicleRow* const row = now.is_plain() && !details ? mine.wheels.row() : nullptr;
  if (!row || !row->step(params + v.tire_params, now.motion, dt, rotations, wheels, chassis)) {
    set_inputs(m, s, v, now, inputs, rotations);
    step_one_by_one(v, params, inputs, wheels, details);
    push(chassis, inputs, rotations, wheels, slope);
  }
  // an ideal controller moves the body itself: wheels turn along but do not push
  mine.force = v.controller->imposes_twist() ? BodyForce() : chassis.force();
}

}  // namespace mvsim
