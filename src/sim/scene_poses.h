// Current poses of all frames of a Scene.
#pragma once

#include <vector>

#include "scene/scene.h"
#include "sim/sim_state.h"

namespace mvsim {

// One pose for each frame of the model's scene; replaces the contents of `poses`. Thread-compatible.
void scene_poses(const SimView& sim, std::vector<ScenePose>& poses);
// One for each of Model::recipe_frames.
void recipe_poses(const SimView& sim, std::vector<ScenePose>& poses);

}  // namespace mvsim
