#include "sim/drive.h"

#include <algorithm>

#include "sim/workspace.h"
#include "vehicle/actuators.h"
#include "vehicle/car.h"
#include "vehicle/command_filters.h"
#include "vehicle/wheel.h"

// From the command of a vehicle to torque, brake and steering of its wheels.

namespace mvsim {
namespace {

// Late, then limited, as a robot's computer gets commands over a network. Returns the command in force.
const double* shape_command(const Model& m, SimState& s, size_t index, double dt) {
  const VehicleModel& v = m.vehicles[index];
  const DriveModel& drive = v.drive;
  const double* const given = s.vehicles[index].command;
  if (!drive.shapes_commands()) return given;
  const double* const params = s.params.data();
  double* const memory = s.memory.data() + drive.memory;
  const size_t size = drive.command_size;

  double late[kMaxCommand];
  const double* arrived = given;
  if (drive.command_delay) {
    const std::span<double> arriving{late, size};
    const MissingCommand missing = pass_delay_line(memory + kDelayLine, drive.delay_places,
                                                   params[*drive.command_delay], dt, given, arriving);
    if (missing.share > 0) {
      double initial[kMaxCommand] = {};
      v.controller->initial_command(params + v.controller_params, initial);
      fill_missing(missing, initial, arriving);
    }
    arrived = late;
  }
  double* const in_force = memory + kCommandInForce;
  double* const before = memory + kCommandBefore;
  for (size_t i = 0; i < size; ++i) {
    double value = arrived[i];
    if (drive.command_limits[i] != DriveModel::kUnlimited)
      value = limited_command(params + drive.command_limits[i], value, {in_force[i], before[i]}, dt);
    before[i] = in_force[i];
    in_force[i] = value;
  }
  return in_force;
}

// Turns the front wheels of a car with a servo to its angle. Their rotations follow from this angle alone,
// whatever is cached.
void turn_front_wheels(const VehicleModel& v, double angle, VehicleWork& work) {
  const FrontMemo& front = front_rotations(v.wheels, angle, work.steer.steered);
  const std::span<RotationMemo> rotations = work.wheels.steer_rotations();
  rotations[kFrontLeft].keep(front.left, front.rotations.left);
  rotations[kFrontRight].keep(front.right, front.rotations.right);
}

void turn_servo(const VehicleModel& v, const double* params, double* memory, double dt, VehicleWork& work,
                double* actuation) {
  const double most = params[v.dynamics_params + kMaxSteer];
  const double target = std::clamp(actuation[kCarSteer], -most, most);
  double& angle = memory[kServoAngle];
  if (angle != target) {
    const double* const servo = params + *v.drive.servo;
    // the limit may have changed since the last step
    angle = std::clamp(servo_step(servo, work.servo.share(servo, dt), angle, target, dt), -most, most);
    turn_front_wheels(v, angle, work);
  }
  work.steer.steered.max = most;
  actuation[kCarSteer] = angle;
}

// Limits the torques that the controller asks for to those of the motors.
void limit_torques(const VehicleModel& v, const double* params, const WheelMotor& motor,
                   std::span<WheelState> wheels) {
  const MotorDriver driver = v.drive.driver;
  if (!v.dynamics->has_engine()) {
    // every motor can have no torque at all
    for (WheelState& wheel : wheels)
      if (wheel.torque != 0) wheel.torque = motor_torque(motor, driver, wheel.torque, wheel.spin);
    return;
  }
  // an engine turns at the mean speed of its wheels, by their shares of its torque
  double asked = 0, spin = 0;
  for (size_t i = 0; i < wheels.size(); ++i) {
    asked += wheels[i].torque;
    spin += v.dynamics->motor_share(params + v.dynamics_params, i) * wheels[i].spin;
  }
  if (asked == 0) return;
  const double part = motor_torque(motor, driver, asked, spin) / asked;
  for (WheelState& wheel : wheels) wheel.torque *= part;
}

}  // namespace

void control(const Model& m, SimState& s, size_t index, double dt, Vec2 slope, VehicleWork& work,
             StepDetails* details) {
  const VehicleModel& v = m.vehicles[index];
  const std::span<WheelState> wheels{s.wheels.data() + v.first_wheel, v.wheels.size()};
  const double* params = s.params.data();
  ControllerInput input{.dt = dt,
                        .wheels = v.wheels,
                        .states = wheels,
                        .odometry = odometry_twist(v.wheels, wheels),
                        .dynamics_params = params + v.dynamics_params,
                        .climbing_force = -params[v.body_params + kChassisMass] * m.gravity * slope.x,
                        .steer_rotations = work.wheels.steer_rotations(),
                        .memo = &work.steer,
                        .has_servo = v.drive.servo.has_value()};
  double* const drive_memory = s.memory.data() + v.drive.memory;
  // the caches are of another state after a snapshot or a reset
  if (v.drive.servo && work.steer.steered.wanted != drive_memory[kServoAngle])
    turn_front_wheels(v, drive_memory[kServoAngle], work);
  if (v.drive.kinematics) input.beliefs = params + *v.drive.kinematics;
  const double* command = shape_command(m, s, index, dt);
  double* state = s.memory.data() + v.controller_state;
  double actuation[kMaxActuation] = {};
  v.controller->step(params + v.controller_params, input, command, state, actuation);
  if (v.drive.servo) turn_servo(v, params, drive_memory, dt, work, actuation);
  if (details)
    v.controller->log_values(params + v.controller_params, input, command, state, actuation,
                             details->controllers[index].data());
  v.dynamics->drive(params + v.dynamics_params, actuation, v.wheels, wheels, work.steer);
  if (v.drive.motor) limit_torques(v, params, work.wheels.motor(), wheels);
}

const double* command_in_force(const Model& m, const SimState& s, size_t vehicle) {
  const DriveModel& drive = m.vehicles[vehicle].drive;
  return drive.shapes_commands() ? s.memory.data() + drive.memory + kCommandInForce
                                 : s.vehicles[vehicle].command;
}

}  // namespace mvsim
