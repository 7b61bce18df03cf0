// The registered controllers, one accessor each.
#pragma once

#include "vehicle/controller.h"

namespace mvsim {

const Controller& differential_raw();
const Controller& differential_twist_pid();
const Controller& differential_twist_ideal();

}  // namespace mvsim
