// One env of a batch as part of a snapshot, and back. Like a Simulation's state, what is read continues bit
// for bit from the end of a control period.
#pragma once

#include <cstdint>
#include <span>

#include "base/archive.h"
#include "task/task.h"

namespace mvsim {

// Of all that decides which snapshots fit an environment: its worlds, the layout and bounds of its
// observations and actions, the names of its rewards. Weights, time limits and periods may differ.
uint64_t fingerprint(const Task& task);

void write_env(ArchiveWriter& archive, const EnvState& env, const Task& task);

// Elements of a type; of float32 only finite ones, unless the archive allows others.
void read_values(ArchiveReader& archive, DType dtype, std::span<uint8_t> out);

// Whether values lie within their bounds, of which there is one for each; `values` may hold several frames.
bool in_bounds(DType dtype, std::span<const uint8_t> values, std::span<const float> low,
               std::span<const float> high);

// Throws Error. `like`: an env whose goal field is shared if the new one would be the same.
EnvState read_env(ArchiveReader& archive, const Task& task, const EnvState& like);

}  // namespace mvsim
