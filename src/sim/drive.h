// From the command of a vehicle to the forces of its wheels.
#pragma once

#include <span>
#include <vector>

#include "sim/body_state.h"
#include "sim/move.h"
#include "sim/sim_state.h"
#include "sim/step_observer.h"
#include "tire/tire_model.h"

namespace mvsim {

// Commands of a vehicle on their way to its wheels: delay, limits, controller, servo, dynamics and motors.

// Sets torque, brake and steering of the wheels of one vehicle for a step of `dt` s. `slope`: as of
// slope_of(). `memo`: of this vehicle. Fills `details` if it is not null.
void control(const Model& m, SimState& s, size_t vehicle, double dt, Vec2 slope, SteerMemo& memo,
             StepDetails* details);

// Returns the command that the controller followed in the last step. It is the user's command after the delay
// and the limits of the vehicle.
const double* command_in_force(const Model& m, const SimState& s, size_t vehicle);

// Inputs of a vehicle's tires. Most follow from parameters alone and are kept from step to step until these
// change. This cache changes no value.

struct WheelInput {
  Vec2 position;       // m, vehicle frame, at the present track
  double weight = 0;   // N, of its share of the chassis and the wheel itself
  TireInput tire;      // its masses, load on level ground and sizes are set; the rest is of the last step
  RotationMemo yaw{};  // of its steering
};

class WheelInputs {
 public:
  std::span<WheelInput> of(const Model& m, const SimState& s, size_t vehicle) {
    if (!known_) make(m, s, vehicle);
    return inputs_;
  }
  void forget() { known_ = false; }  // after a change of parameters

 private:
  void make(const Model& m, const SimState& s, size_t vehicle);

  bool known_ = false;
  std::vector<WheelInput> inputs_;  // by wheel of the vehicle
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

// Runs one vehicle's controller and tires for a step of `dt` s. The resulting force on the body goes into
// VehicleWork::force. Fills `details` if it is not null.
void drive(const Model& m, SimState& s, Workspace& w, size_t vehicle, double dt, StepDetails* details);

// Sets the share of the chassis' weight on each wheel under the tire forces of the last step.
void set_loads(const Model& m, SimState& s, size_t vehicle);

}  // namespace mvsim
