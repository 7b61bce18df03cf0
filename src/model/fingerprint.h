// Whether two compiled worlds are the same, for snapshots: a hash over everything that shapes their motion
// and their readings, and over no address, path, colour or source location.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace mvsim {

uint64_t fingerprint(const Model& model);

}  // namespace mvsim
