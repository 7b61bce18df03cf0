// A wheel: its fixed properties and its state. Vehicle frame: x forward, y left.
#pragma once

#include <string>

#include "base/geometry.h"

namespace mvsim {

struct WheelModel {
  std::string tag;               // "l_wheel"...
  Vec2 position;                 // m, vehicle frame
  double yaw = 0;                // rad, mounting angle
  double width = 0, radius = 0;  // m
  double mass = 0;               // kg
  double inertia = 0;            // kg m2 about the axle
};

// Torque of a motor at rest. Snapshots and golden hashes depend on this sign of zero.
inline constexpr double kNoTorque = -0.0;  // N m

struct WheelState {
  double spin = 0;                  // rad/s, positive forward
  double angle = 0;                 // rad
  double steer = 0;                 // rad, yaw with respect to the chassis
  double torque = 0;                // N m of the motor in the last step, positive forward
  double brake = 0;                 // N m of the brake in the last step, >= 0
  double force_x = 0, force_y = 0;  // N on the chassis in the last step, vehicle frame
  double load = 0;                  // N, share of the chassis weight; the wheel's own comes on top
};

}  // namespace mvsim
