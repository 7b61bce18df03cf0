// Poses of a Scene, and recipes of pictures made from them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scene/scene.h"
#include "sim/sim_state.h"

namespace mvsim {

// Current poses of all frames of a Scene.

// One pose for each frame of the model's scene; replaces the contents of `poses`. Thread-compatible.
void scene_poses(const SimView& sim, std::vector<ScenePose>& poses);
// One for each of Model::recipe_frames.
void recipe_poses(const SimView& sim, std::vector<ScenePose>& poses);

// Pictures of view sensors as recipes: numbers from which, with the Model alone, the picture can be drawn
// again bit for bit (views/draw_views.h). A state and a snapshot hold recipes, no pixels.
//
// A recipe has these numbers, state_memory_size() in all (model/model.h): 1 (0 if no picture was
// taken), the key of the picture's noise in two halves, the mounting error of the sensor (x, y, yaw), its
// parameters, and the poses of Model::recipe_frames.

// Records what the sensor sees now. Draws the key from the sensor's noise stream.
void record_view(const Model& m, SimState& s, size_t sensor, double* recipe);

// The recipe of the latest due picture.
std::span<const double> view_recipe_of(const SimView& sim, size_t sensor);

}  // namespace mvsim
