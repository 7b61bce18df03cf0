// Late and noisy actions, late readings and readings that drop out, and pushes, as the parameters of
// model/transfer_params.h ask for; all are read at the start of an agent's episode. An agent without any
// costs nothing.
#pragma once

#include "task/task.h"

namespace mvsim {

// Sets AgentState::transfer at the start of the agent's episode. Throws Error for a delay that is too long.
void start_transfer(const Task& task, const EnvState& env, size_t agent, TransferState& transfer);

// Of the actions of a period: hands the agent's to its robot, or puts it on its way.
void send_action(const Task& task, EnvState& env, size_t agent);

// Before time step `step` of a period: actions that arrive, pushes that are due.
void act_between(const Task& task, EnvState& env, size_t agent, int step);
// After that time step: readings that are taken now and handed over later.
void look_between(const Task& task, EnvState& env, size_t agent, int step);
// Whether an agent needs the two above.
bool has_between(const AgentState& agent);

// Writes the frame that observation `slot` shows at the end of a period, or (`first`) at the start of an
// episode; of a picture its recipe.
void arriving_frame(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first,
                    Scratch& scratch, std::byte* out);
void arriving_recipe(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first, double* out);

// Whether what a snapshot says of it is what start_transfer() could have made.
bool fits(const TransferState& transfer, const Task& task, const AgentTask& agent);

}  // namespace mvsim
