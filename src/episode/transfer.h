// Late and noisy actions, late readings and readings that drop out, and pushes, by the parameters of
// model/transfer_params.h. The parameters are read at the start of an agent's episode. An agent without any
// costs nothing.
#pragma once

#include "task/task.h"

namespace mvsim {

// Sets AgentState::transfer at the start of the agent's episode. Throws Error for a delay that is too long.
void start_transfer(const Task& task, const EnvState& env, size_t agent, TransferState& transfer);

// Sends an agent's action to its robot at the start of a period, or starts its delay.
void send_action(const Task& task, EnvState& env, size_t agent);

// Runs before time step `step` of a period: applies actions that arrive and pushes that are due.
void act_between(const Task& task, EnvState& env, size_t agent, int step);
// Runs after that time step: takes the readings that are delivered later.
void look_between(const Task& task, EnvState& env, size_t agent, int step);
// Whether an agent needs act_between() and look_between().
bool has_between(const AgentState& agent);

// Writes the frame of observation `slot` at the end of a period, or (`first`) at the start of an episode; for
// a picture its recipe.
void arriving_frame(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first,
                    Scratch& scratch, std::byte* out);
void arriving_recipe(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first, double* out);

// Whether the state that a snapshot holds could come from start_transfer().
bool fits(const TransferState& transfer, const Task& task, const AgentTask& agent);

}  // namespace mvsim
