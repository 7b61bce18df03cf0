// The Scene of a compiled world: colours from the specs, shapes and places from the Model.
#pragma once

#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Sets model.scene and the blocks' frames, after all else of the model. Costs no triangles: shapes stay what
// they are.
void compile_scene(const WorldSpec& spec, Model& model);

}  // namespace mvsim
