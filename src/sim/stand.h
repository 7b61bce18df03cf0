// How a vehicle stands on the ground: maps, planes and the tops of blocks.
#pragma once

#include "sim/sim_state.h"
#include "sim/tilt.h"

namespace mvsim {

// Sets height, pitch and roll from the ground under the wheels; x, y and yaw are left alone. Returns the mean
// height of that ground, m.
double stand(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Puts a vehicle that was moved onto the elevation maps. It begins at the highest ground under a wheel, so
// that the ground of every wheel is found.
void snap_to_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Adds squares to Workspace::step_squares at places where the ground under a corner of the chassis is higher
// above `wheel_ground` than the wheels can climb.
void find_step_squares(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Returns whether a vehicle stands on level ground that is known (Workspace::levels). Then it also sets the
// vehicle on it, as the two functions above would.
bool stands_on_known_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);
// Finds how far the ground is level around a vehicle that has just been set on it, if such a search is due.
void learn_ground(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Downhill pull in the vehicle frame as a share of the weight: (sin pitch, -sin roll cos pitch).
Vec2 slope_of(const VehicleState& vehicle, TiltMemo& tilt);

// Gravity across the ground that the vehicle stands on, m/s2.
double gravity_across(const Model& m, const Tilt& tilt);

}  // namespace mvsim
