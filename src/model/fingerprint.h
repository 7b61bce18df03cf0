// Fingerprint of a compiled world, by which snapshots recognise it: a hash of everything that shapes motion
// and readings. It covers no address, path, colour or source location.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace mvsim {

uint64_t fingerprint(const Model& model);

}  // namespace mvsim
