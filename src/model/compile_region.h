// <element class="property_region"> -> regions of the ground, with their parameters.
#pragma once

#include "base/load_guard.h"
#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

void compile_regions(const WorldSpec& spec, const LoadGuard& guard, Model& model);

}  // namespace mvsim
