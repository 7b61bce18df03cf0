// Changes of a state between steps: its start, places of vehicles and blocks, parameters. Each takes effect
// at the next step.
#pragma once

#include "sim/sim_state.h"

namespace mvsim {

// The model's initial state with nominal parameters and the random streams of (key, episode). Leaves no trace
// of what was before but always_solver and which sensors are scheduled.
void reset_state(const Model& m, SimState& s, Workspace& w, uint64_t key, uint32_t episode);

// At rest, z snapped to the ground; what is joined to it comes along as it stood at the start. Throws Error
// if a joint ties one of them to a static block.
void place_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Pose2& pose);
// Throws Error for a block of the model's static geometry.
void check_placeable(const Model& m, size_t block);
void place_block(const Model& m, SimState& s, Workspace& w, size_t block, const Pose2& pose);

// `index` into Model::params. Throws Error if the value is out of range.
void set_param(const Model& m, SimState& s, Workspace& w, size_t index, double value);

// Invalidates the known contacts and distances. Every change from outside calls it.
void forget_contacts(SimState& s, Workspace& w);

}  // namespace mvsim
