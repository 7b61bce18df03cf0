// Writes and reads one env of a batch as part of a snapshot. Like a Simulation's state, an env that is read
// continues bit for bit from the end of a control period.
#pragma once

#include <cstdint>
#include <span>

#include "base/archive.h"
#include "task/task.h"

namespace mvsim {

// Returns a hash of the properties of an environment that a snapshot must match: its worlds, the layout and
// bounds of its observations and actions, the names of its rewards. Weights, time limits and periods may
// differ.
uint64_t fingerprint(const Task& task);

void write_env(ArchiveWriter& archive, const EnvState& env, const Task& task);

// Reads elements of a type; float32 elements must be finite, unless the archive allows others.
void read_values(ArchiveReader& archive, DType dtype, std::span<uint8_t> out);

// Whether values are within their bounds, of which there is one for each; `values` may hold several frames.
bool in_bounds(DType dtype, std::span<const uint8_t> values, std::span<const float> low,
               std::span<const float> high);

// Reads an env. Throws Error. `like` is an env whose goal field is shared if the new one would be the same.
EnvState read_env(ArchiveReader& archive, const Task& task, const EnvState& like);

}  // namespace mvsim
