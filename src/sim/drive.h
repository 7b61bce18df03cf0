// Drives a vehicle: controllers, tires, and the resulting force on the chassis.
#pragma once

#include "sim/free_motion.h"
#include "sim/sim_state.h"
#include "sim/step_observer.h"

namespace mvsim {

// Runs one vehicle's controller and tires for a step of `dt` s. The resulting force on the body goes into
// VehicleWork::force. Fills `details` if it is not null.
void drive(const Model& m, SimState& s, Workspace& w, size_t vehicle, double dt, StepDetails* details);

// Sets the share of the chassis' weight on each wheel under the tire forces of the last step.
void set_loads(const Model& m, SimState& s, size_t vehicle);

}  // namespace mvsim
