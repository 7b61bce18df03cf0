// How a vehicle stands on the ground: maps, planes and the tops of blocks.
#pragma once

#include "sim/sim_state.h"
#include "sim/tilt.h"

namespace mvsim {

// Sets height, pitch and roll from the ground under the wheels; x, y and yaw are left alone. Returns the mean
// height of that ground, m.
double stand(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Puts a vehicle that was moved onto the elevation maps, high enough that every wheel finds its ground.
void snap_to_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Adds to Workspace::step_squares where ground under a corner of the chassis rises above `wheel_ground` by
// more than the wheels climb.
void find_step_squares(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Whether a vehicle stands on level ground that it knows (Workspace::levels): then it is put there, and the
// two functions above would find nothing else.
bool stands_on_known_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);
// Looks how far around a vehicle that has just been stood up the ground is level, if it is time to.
void learn_ground(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Downhill pull in the vehicle frame as a share of the weight: (sin pitch, -sin roll cos pitch).
Vec2 slope_of(const VehicleState& vehicle, TiltMemo& tilt);

// Gravity across the ground that the vehicle stands on, m/s2.
double gravity_across(const Model& m, const Tilt& tilt);

}  // namespace mvsim
