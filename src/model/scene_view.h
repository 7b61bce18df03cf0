// Compiles the light, the background and the marker lines of a Scene.
#pragma once

#include "model/model.h"
#include "model/scene_meshes.h"
#include "scene/scene.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Runs once the bodies have their frames. Warns of a grid that is to follow a vehicle that there is not;
// throws WorldFileError at one of too many lines.
void add_view(const WorldSpec& spec, SceneMeshes& meshes, Model& model, Scene& scene);

}  // namespace mvsim
