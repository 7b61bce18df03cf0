// Layout of the memory and the readings of sensors in a state.
#pragma once

#include "model/model.h"

namespace mvsim {

// Sets Model::recipe_frames. Call it after compile_scene.
void find_recipe_frames(Model& model);

// Sets values, bytes and memory of all sensors and the sizes in the Model. Call it after compile_scene and
// find_recipe_frames, because a sensor with pictures keeps a recipe of poses in its memory instead of pixels.
void lay_out_sensors(Model& model);

// Layout of a recipe (sim/view_recipe.h): the place of the mounting error, the size of the part before the
// parameters, and the numbers of a pose.
inline constexpr size_t kViewRecipeAskew = 3, kViewRecipeHead = 6, kScenePoseNumbers = 13;
// Returns how many numbers a sensor keeps in a state: memory_size(), or the size of its recipe.
size_t state_memory_size(const Model& model, const Sensor& sensor);

}  // namespace mvsim
