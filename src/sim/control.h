// Commands of a vehicle on their way to its wheels: delay, limits, controller, servo, dynamics and motors.
#pragma once

#include "sim/sim_state.h"
#include "sim/step_observer.h"

namespace mvsim {

// Sets torque, brake and steering of the wheels of one vehicle for a step of `dt` s. `slope`: as of
// slope_of(). `memo`: of this vehicle. Fills `details` if it is not null.
void control(const Model& m, SimState& s, size_t vehicle, double dt, Vec2 slope, SteerMemo& memo,
             StepDetails* details);

// Returns the command that the controller followed in the last step. It is the user's command after the delay
// and the limits of the vehicle.
const double* command_in_force(const Model& m, const SimState& s, size_t vehicle);

}  // namespace mvsim
