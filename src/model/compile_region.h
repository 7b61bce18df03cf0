// <element class="property_region"> -> regions of the ground, with their parameters.
#pragma once

#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

void compile_regions(const WorldSpec& spec, Model& model);

}  // namespace mvsim
