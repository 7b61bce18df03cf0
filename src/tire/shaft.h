// A step of two wheels on one rigid shaft, whatever their friction model.
#pragma once

#include "tire/tire_model.h"

namespace mvsim {

// Makes the step of two wheels that turn alike, as one body with the sum of their inertias. `p`: parameters
// of the model; the forces of the last step along the rolling direction, N, tell where the search begins.
ShaftStep step_on_shaft(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                        double last_rear_force, double last_front_force);

}  // namespace mvsim
