// A direct-current motor with its gear, as datasheets describe it: torque falls linearly from the stall
// torque at rest to zero at the no-load speed, and both grow with the voltage. Pure; SI units.
#pragma once

namespace mvsim {

// In the order of the randomised rows of motor_tags().
enum MotorParam {
  kStallTorque,     // N m of the rotor at the rated voltage
  kNoLoadSpeed,     // rad/s of the rotor at the rated voltage
  kGearRatio,       // turns of the rotor for one of the wheel
  kEfficiency,      // of the gear
  kRotorInertia,    // kg m2
  kRatedVoltage,    // V
  kBatteryVoltage,  // V
  kMotorParamCount
};

// The quantity of a motor that a command sets.
enum class MotorDriver {
  kVoltage,  // a command sets the voltage: its torque is that at rest, and falls with the speed
  kTorque    // a command sets the torque, as far as the curve allows
};

// A motor as its wheel feels it.
struct WheelMotor {
  double stall = 0;    // N m at the battery's voltage
  double slope = 0;    // N m s/rad, by which the torque falls with the speed of the wheel (back-EMF)
  double inertia = 0;  // kg m2 of the rotor about the axle of the wheel
};

// `p`: values by MotorParam.
WheelMotor wheel_motor(const double* p);

// The torque of the motor under a command (N m) at that speed of its wheel (rad/s). That of kVoltage lacks
// the back-EMF, slope * spin, which acts as damping of the wheel.
double motor_torque(const WheelMotor& motor, MotorDriver driver, double command, double spin);

}  // namespace mvsim
