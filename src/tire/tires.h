// The registered tire models, one accessor each.
#pragma once

#include "tire/tire_model.h"

namespace mvsim {

const TireModel& default_tire();
const TireModel& wardiagnemma_tire();
const TireModel& ellipse_tire();
const TireModel& vti_tire();

}  // namespace mvsim
