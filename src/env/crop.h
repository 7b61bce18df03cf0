// How far an agent has come through the crop rows of its task. Pure functions.
#pragma once

#include <memory>
#include <vector>

#include "env/env_spec.h"
#include "env/env_state.h"
#include "env/plan/crop_path.h"
#include "model/model.h"

namespace mvsim {

// The path through the rows of each world, which <crop_rows> names. Throws WorldFileError.
std::vector<CropPath> crop_paths(const TermSpec& term,
                                 const std::vector<std::shared_ptr<const Model>>& models, LoadGuard& guard);

// At the start of an episode, once the agent is placed.
void start_crop(const CropPath& path, Vec2 position, CropState& crop);
void begin_crop_period(CropState& crop);
// At the end of a control period.
void follow_crop(const CropPath& path, Vec2 position, CropState& crop);
// After a caller moved it: the way there is nobody's progress, and alleys before it are not done by that.
void move_in_crop(const CropPath& path, Vec2 position, CropState& crop);

}  // namespace mvsim
