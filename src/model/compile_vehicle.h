// Compilation of one vehicle and one block: appends to the model under construction.
#pragma once

#include "model/model.h"
#include "terrain/ground_index.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Appends the rows of `table` with `values` under `prefix` to Model::params; returns the index of the first.
size_t add_params(Model& model, const std::string& prefix, std::span<const ParamInfo> table,
                  std::span<const double> values);

// Initial pose with z snapped to the ground of what stands before it in the document.
Pose3 settle(GroundIndex& ground, const PlacementSpec& placement, double query_height);

// `ground`: what stands before them in the document; a block is added to it, so Model::blocks must not move.
void compile_vehicle(const VehicleSpec& spec, GroundIndex& ground, LoadGuard& guard, Model& model);
void compile_block(const BlockSpec& spec, bool placed, GroundIndex& ground, Model& model);

}  // namespace mvsim
