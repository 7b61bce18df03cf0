// Changes of a state between steps: its start, places of vehicles and blocks, parameters. Each takes effect
// at the next step.
#pragma once

#include "sim/sim_state.h"

namespace mvsim {

// Sets the model's initial state, nominal parameters and the random streams of (key, episode). Only
// always_solver and the choice of scheduled sensors are kept from the state before.
void reset_state(const Model& m, SimState& s, Workspace& w, uint64_t key, uint32_t episode);

// Places a vehicle at rest on the ground. Bodies that are joined to it move along and get the relative poses
// of the start of the episode. Throws Error if a joint ties one of them to a static block.
void place_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Pose2& pose);
// Throws Error for a block of the model's static geometry.
void check_placeable(const Model& m, size_t block);
void place_block(const Model& m, SimState& s, Workspace& w, size_t block, const Pose2& pose);

// Sets the parameter at `index` of Model::params. Throws Error if the value is out of range.
void set_param(const Model& m, SimState& s, Workspace& w, size_t index, double value);

// Invalidates the known contacts and distances. Every change from outside calls it.
void forget_contacts(SimState& s, Workspace& w);

}  // namespace mvsim
