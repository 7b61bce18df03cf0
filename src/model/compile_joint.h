// JointSpec to JointModel, and which bodies hang together. Runs once the bodies are compiled.
#pragma once

#include "model/model.h"

namespace mvsim {

void compile_joints(const WorldSpec& spec, Model& model);

}  // namespace mvsim
