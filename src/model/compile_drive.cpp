// The drive of a vehicle as datasheets have it: its parameters and its memory.
#include "model/add_tag_params.h"
#include "model/compile_parts.h"
#include "vehicle/delay_line.h"

namespace mvsim {
namespace {

// Absent limits by the rules of ros2_control.
LimitSpec filled(LimitSpec spec) {
  constexpr double kNone = kMaxNumber;
  spec.max_velocity = spec.max_velocity.value_or(kNone);
  spec.min_velocity = spec.min_velocity.value_or(-*spec.max_velocity);
  spec.max_acceleration = spec.max_acceleration.value_or(kNone);
  spec.max_acceleration_reverse = spec.max_acceleration_reverse.value_or(-*spec.max_acceleration);
  spec.max_deceleration = spec.max_deceleration.value_or(*spec.max_acceleration_reverse);
  spec.max_deceleration_reverse = spec.max_deceleration_reverse.value_or(*spec.max_acceleration);
  spec.max_jerk = spec.max_jerk.value_or(kNone);
  spec.min_jerk = spec.min_jerk.value_or(-*spec.max_jerk);
  return spec;
}

void add_limits(const LimitsSpec& spec, const std::string& prefix, DriveModel& drive, Model& model) {
  drive.limits = add_tag_params(model, prefix + "linear/", linear_limit_tags(), filled(spec.linear));
  add_tag_params(model, prefix + "angular/", angular_limit_tags(), filled(spec.angular));
}

void add_motor(MotorSpec spec, const std::string& prefix, VehicleModel& v, Model& model) {
  spec.battery_voltage = spec.battery_voltage.value_or(spec.rated_voltage);
  v.drive.motor = add_tag_params(model, prefix, motor_tags(), spec);
  v.drive.driver = spec.torque_control ? MotorDriver::kTorque : MotorDriver::kVoltage;
}

void add_servo(ServoSpec spec, const std::string& prefix, VehicleModel& v, Model& model) {
  if (!v.dynamics->steers())
    throw WorldFileError(spec.where, "<servo>: dynamics '" + std::string(v.dynamics->name()) +
                                         "' have no steering, expected a car");
  spec.rate = spec.rate.value_or(servo_tags()[0].range.max);
  v.drive.servo = add_tag_params(model, prefix, servo_tags(), spec);
}

void add_command_delay(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  const ParamInfo row{
      .name = "command_delay", .fallback = 0, .min = 0, .max = longest_delay(model.timestep), .unit = "s"};
  check_range(row, *spec.command_delay, spec.command_delay_where);
  v.drive.command_delay =
      add_params(model, "vehicle:" + spec.name + "/", {&row, 1}, {&*spec.command_delay, 1});
  v.drive.delay_line = delay_line_size(model.timestep, v.controller->command().size());
}

// The damping of a motor is that of its curve: that of the tires' default stands for none that is known.
void clear_default_damping(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  if (v.drive.driver != MotorDriver::kVoltage || spec.friction.find("C_damping")) return;
  const std::span<const ParamInfo> table = v.tire->params();
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i].name == "C_damping") model.params[v.tire_params + i].nominal = 0;
}

}  // namespace

void add_drive(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  const std::string prefix = "vehicle:" + spec.name + "/";
  if (spec.limits) add_limits(*spec.limits, prefix + "limits/", v.drive, model);
  if (spec.kinematics) {
    if (v.dynamics->steers())
      throw WorldFileError(spec.kinematics->where,
                           "<kinematics>: dynamics '" + std::string(v.dynamics->name()) +
                               "' steer, expected a differential drive: a car turns by its steering angle");
    v.drive.kinematics = add_tag_params(model, prefix + "kinematics/", kinematics_tags(), *spec.kinematics);
  }
  if (spec.motor) {
    add_motor(*spec.motor, prefix + "motor/", v, model);
    clear_default_damping(spec, v, model);
  }
  if (spec.servo) add_servo(*spec.servo, prefix + "servo/", v, model);
  if (spec.command_delay) add_command_delay(spec, v, model);
  if (!v.drive.limits && !v.drive.servo && !v.drive.command_delay) return;
  v.drive.memory = model.memory_size;
  model.memory_size += kDelayLine + v.drive.delay_line;
}

}  // namespace mvsim
