// From the command of a vehicle to the forces of its wheels.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/sim_state.h"
#include "sim/step_observer.h"
#include "sim/vehicle_row.h"
#include "tire/tire_model.h"
#include "vehicle/actuators.h"

namespace mvsim {

struct VehicleWork;

// Returns the command that the controller followed in the last step. It is the user's command after the delay
// and the limits of the vehicle.
const double* command_in_force(const Model& m, const SimState& s, size_t vehicle);

// Inputs of a vehicle's tires. Most follow from parameters alone and are kept from step to step until these
// change. This cache changes no value.

class WheelInputs {
 public:
  std::span<WheelInput> of(const Model& m, const SimState& s, size_t vehicle) {
    if (!known_) make(m, s, vehicle);
    return inputs_;
  }
  void forget() { known_ = false; }  // after a change of parameters

  // These are of the vehicle of of().
  const WheelMotor& motor() const { return motor_; }
  std::span<RotationMemo> steer_rotations() { return rotations_; }  // by wheel
  VehicleRow* row() { return row_ ? &*row_ : nullptr; }             // null: its wheels step one by one

 private:
  void make(const Model& m, const SimState& s, size_t vehicle);

  bool known_ = false;
  WheelMotor motor_;
  std::vector<WheelInput> inputs_;       // by wheel of the vehicle
  std::vector<RotationMemo> rotations_;  // the same
  std::optional<VehicleRow> row_;
};

// Cache of the share of its way that a steering servo goes in a step (vehicle/actuators.h). It changes no
// value.
class ServoMemo {
 public:
  // `p`: values by ServoParam.
  double share(const double* p, double dt) {
    if (p[kServoTimeConstant] != lag_ || dt != dt_) {
      lag_ = p[kServoTimeConstant], dt_ = dt;
      share_ = servo_share(p, dt);
    }
    return share_;
  }

 private:
  double lag_ = std::numeric_limits<double>::quiet_NaN(), dt_ = 0, share_ = 0;
};

// Property regions that a vehicle's wheels could be in: usually one or two of many. This cache changes no
// value.

class NearRegions {
 public:
  // Indices of Model::regions, ascending. `at`: of the vehicle's reference point, world frame.
  const std::vector<size_t>& of(const Model& m, const SimState& s, size_t vehicle, Vec2 at) {
    const Vec2 d = at - center_;
    if (!(dot(d, d) <= kRoom * kRoom) || !known_) look(m, s, vehicle, at);
    return found_;
  }
  void forget() { known_ = false; }  // after a change of parameters

 private:
  static constexpr double kRoom = 1;  // m that the vehicle may go until it is looked again

  void look(const Model& m, const SimState& s, size_t vehicle, Vec2 at);

  bool known_ = false;
  Vec2 center_;
  std::vector<size_t> found_;
};

// Drives a vehicle: controllers, tires, and the resulting force on the chassis.

// Sets torque, brake and steering of the wheels of one vehicle for a step of `dt` s. `slope`: as of
// slope_of(). Fills `details` if it is not null.
void control(const Model& m, SimState& s, size_t index, double dt, Vec2 slope, VehicleWork& work,
             StepDetails* details);

// Runs one vehicle's controller and tires for a step of `dt` s. The resulting force on the body goes into
// VehicleWork::force. Fills `details` if it is not null.
void drive(const Model& m, SimState& s, Workspace& w, size_t vehicle, double dt, StepDetails* details);

// Sets the share of the chassis' weight on each wheel under the tire forces of the last step.
void set_loads(const Model& m, SimState& s, size_t vehicle);

}  // namespace mvsim
