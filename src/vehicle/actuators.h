// Actuators of vehicles: motors, steering servos, drivetrains.
#pragma once

#include <array>
#include <string_view>

namespace mvsim {

// A direct-current motor with its gear, as datasheets describe it: torque falls linearly from the stall
// torque at rest to zero at the no-load speed, and both grow with the voltage. Pure; SI units.

// In the order of the randomised rows of kMotorTags.
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

// A steering servo: a first-order lag whose rate is limited. Pure; rad, s.

// In the order of kServoTags.
enum ServoParam {
  kServoRate,          // rad/s
  kServoTimeConstant,  // s; 0: no lag
  kServoParamCount
};

// The share of its way that the lag lets a servo go in a step of `dt` s. `p`: values by ServoParam.
double servo_share(const double* p, double dt);

// A servo this near to its target is there, rad: the lag alone would take for ever.
inline constexpr double kServoArrived = 1e-5;

// Returns the angle after a step of `dt` s towards `target`. `share`: of servo_share().
double servo_step(const double* p, double share, double angle, double target, double dt);

// Distribution of one engine's torque to four wheels. Open differentials split it by fixed shares, Torsen
// ones send more to the slower side.

inline constexpr std::string_view kDrivetrainTypes[] = {"open_front",   "open_rear",   "open_4wd",
                                                        "torsen_front", "torsen_rear", "torsen_4wd"};
enum class DrivetrainType { kOpenFront, kOpenRear, kOpen4wd, kTorsenFront, kTorsenRear, kTorsen4wd };

// One differential. `split`: share of its first output (front, left) when both turn alike; `bias`: ratio of
// spins above which a Torsen shifts torque, >= 1.
struct Differential {
  double split = 0.5, bias = 1.5;
};

struct Drivetrain {
  DrivetrainType type = DrivetrainType::kTorsen4wd;
  Differential center, front, rear;
};

// Share of a Torsen differential's first output; the second gets the rest.
double torsen_share(const Differential& differential, double spin_1, double spin_2);

// Shares of the engine's torque by CarWheel; they sum to 1. `spins`: rad/s, by CarWheel.
std::array<double, 4> torque_shares(const Drivetrain& drivetrain, const std::array<double, 4>& spins);

}  // namespace mvsim
