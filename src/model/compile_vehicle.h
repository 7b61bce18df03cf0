// Compilation of one vehicle and one block: appends to the model under construction.
#pragma once

#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Appends the rows of `table` with `values` under `prefix` to Model::params; returns the index of the first.
size_t add_params(Model& model, const std::string& prefix, std::span<const ParamInfo> table,
                  std::span<const double> values);

// Initial pose with z snapped to the ground of what stands before it in the document (world-elements 2.1.1).
Pose3 settle(const Model& model, const PlacementSpec& placement, double query_height);

void compile_vehicle(const VehicleSpec& spec, Model& model);
void compile_block(const BlockSpec& spec, bool placed, Model& model);

}  // namespace mvsim
