// The registered tire models, one accessor each.
#pragma once

#include "tire/tire_model.h"

namespace mvsim {

const TireModel& default_tire();

}  // namespace mvsim
