// WorldSpec -> Model: looks up classes, checks ranges with the source line, builds shapes, fields and trees.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "worldfile/load_world.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct CompileOptions {
  std::vector<std::string> placed_blocks;  // name patterns of blocks that an environment places or resizes
};

std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options = {});

// Reads and compiles a world file.
std::shared_ptr<const Model> load_model(const std::string& path, const WorldLoadOptions& load = {},
                                        const CompileOptions& compile = {});

}  // namespace mvsim
