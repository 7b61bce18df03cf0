// The registered dynamics classes, one accessor each.
#pragma once

#include "vehicle/dynamics.h"

namespace mvsim {

const Dynamics& differential();
const Dynamics& differential_3_wheels();
const Dynamics& differential_4_wheels();
const Dynamics& ackermann();
const Dynamics& ackermann_drivetrain();

}  // namespace mvsim
