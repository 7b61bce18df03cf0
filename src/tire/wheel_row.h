// Wheels of a vehicle side by side, for tires that compute several at once.
#pragma once

#include <cstddef>

namespace mvsim {

inline constexpr size_t kMostInRow = 8;  // wheels

// A value of each wheel. Values beyond the last wheel are not used, but must be numbers.
struct alignas(64) RowValues {
  double of[kMostInRow] = {};
  double& operator[](size_t i) { return of[i]; }
  double operator[](size_t i) const { return of[i]; }
};

// The inputs and the outputs of a step on level ground, without brakes and without drag. They have the
// meaning and the units of TireInput and TireOutput (tire/tire_model.h).
struct WheelRow {
  size_t count = 0;
  double dt = 0;  // s
  // from parameters
  RowValues holding_mass;  // kg that a force across may stop in one step
  RowValues carried;       // kg m2: what moves with a wheel that rolls, as an inertia about the axle
  RowValues load, radius, inertia, motor_damping;
  // of this step
  RowValues torque, spin, velocity_x, velocity_y;
  // by the model: limits of the forces, N; C_damping, N m s/rad; torque of rolling resistance, N m
  RowValues limit_x, limit_y, damping, resistance;
  // results
  RowValues force_x, force_y, spin_after;
};

// Sets the results by the rolling constraint: those of roll() and lateral_hold() (tire/rolling.h), to the
// bit.
void roll_row(WheelRow& row);

}  // namespace mvsim
