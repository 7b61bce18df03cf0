// Layout of the memory and the readings of sensors in a state.
#pragma once

#include "model/model.h"

namespace mvsim {

// Sets Model::recipe_frames. After compile_scene.
void find_recipe_frames(Model& model);

// Sets values, bytes and memory of all sensors and the sizes in the Model. After compile_scene: of a picture
// a state holds what draws it again, in the sensor's memory, and no pixel. After find_recipe_frames.
void lay_out_sensors(Model& model);

// Numbers that a sensor keeps in a state: memory_size(), or those that draw its picture again
// (sim/view_recipe.h): these, its parameters, and the poses of the frames that move.
inline constexpr size_t kViewRecipeAskew = 3, kViewRecipeHead = 6, kScenePoseNumbers = 13;
size_t state_memory_size(const Model& model, const Sensor& sensor);

}  // namespace mvsim
