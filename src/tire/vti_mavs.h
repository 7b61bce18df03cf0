// The vehicle-terrain interface as MAVS's code runs it, with its peculiarities, for comparison with its
// output (form="mavs"). Pure functions; SI units.
#pragma once

#include "base/geometry.h"
#include "tire/vti_traction.h"

namespace mvsim {

// Slip ratio over the undeflected radius, without a low-speed limit. `starting`: no torque yet.
double mavs_slip_ratio(double rolling_speed, double speed, bool starting);

// The steering angle is subtracted from an angle that already is the steered wheel's.
double mavs_slip_angle(double speed, double lateral_speed, double steer);

// Force on the vehicle in the wheel's frame, N: both axes independent, lateral without the surface's
// friction.
Vec2 mavs_force(Surface surface, const TireContact& contact, double slip, double slip_angle,
                double crossover);

struct MavsTire {
  double radius = 0, width = 0, section_height = 0;  // m
  double stiffness = 0, damping = 0;                 // N/m and N s/m, vertical
  double inertia = 0;                                // kg m2
  double viscous = 0;                                // 1/s, of the spin
  double crossover = 0;                              // rad
};

// A hub over level ground, velocities in the frame of the steered wheel (x forward, y left, z up).
struct MavsHub {
  double dt = 0;                                  // s
  double depth = 0;                               // m of the undeflected tire below the ground
  double speed = 0, lateral_speed = 0, rise = 0;  // m/s
  double steer = 0;                               // rad
  double spin = 0;                                // rad/s
  double torque = 0;                              // N m
  bool starting = false;                          // no torque so far
};

struct MavsUpdate {
  double forward = 0, left = 0, up = 0;  // N on the vehicle
  double spin = 0;                       // rad/s after the step
  double slip = 0;
};

// One update of a tire: contact, slip, traction, spin, and the drag that MAVS adds.
MavsUpdate mavs_update(const MavsTire& tire, Surface surface, double cone_index, const MavsHub& hub);

}  // namespace mvsim
