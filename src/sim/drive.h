// What drives a vehicle: controllers, tires, and the force that they put on the chassis.
#pragma once

#include "sim/free_motion.h"
#include "sim/sim_state.h"
#include "sim/step_observer.h"

namespace mvsim {

// One vehicle's controller and tires for a step of `dt` s; the force on the body that comes of it goes into
// Workspace::forces. Writes what nobody keeps to `details`, if any.
void drive(const Model& m, SimState& s, Workspace& w, size_t vehicle, double dt, StepDetails* details);

// The chassis' weight on each wheel, under the tire forces of the last step.
void set_loads(const Model& m, SimState& s, size_t vehicle);

}  // namespace mvsim
