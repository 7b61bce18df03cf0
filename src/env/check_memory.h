// Whether so many copies of an environment fit into this machine, asked before anything is allocated.
#pragma once

#include "env/task.h"

namespace mvsim {

// Throws Error if the copies alone would take more than the physical memory, or with the worlds more than the
// limit (bytes).
void check_memory(const Task& task, int num_envs, uint64_t memory_limit);

}  // namespace mvsim
