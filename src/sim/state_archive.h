// A SimState as bytes, and back: the part of a snapshot that is a world's.
#pragma once

#include "base/archive.h"
#include "sim/sim_state.h"

namespace mvsim {

void write_state(ArchiveWriter& archive, const SimState& state);
// Throws Error for bytes that are no state of the model.
SimState read_state(const Model& model, ArchiveReader& archive);
size_t expected_bytes(const Model& model);  // of what write_state() writes, about

}  // namespace mvsim
