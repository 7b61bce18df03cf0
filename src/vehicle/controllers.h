// The registered controllers, one accessor each.
#pragma once

#include "vehicle/controller.h"

namespace mvsim {

const Controller& differential_raw();
const Controller& differential_twist_pid();
const Controller& differential_twist_ideal();
const Controller& differential_twist_wheels();

const Controller& ackermann_raw();
const Controller& ackermann_twist_ideal();
const Controller& ackermann_twist_front_steer_pid();
const Controller& ackermann_front_steer_pid();
const Controller& ackermann_throttle_brake();

const Controller& drivetrain_raw();
const Controller& drivetrain_twist_front_steer_pid();
const Controller& drivetrain_front_steer_pid();
const Controller& drivetrain_throttle_brake();

}  // namespace mvsim
