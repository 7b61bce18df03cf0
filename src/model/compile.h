// WorldSpec -> Model: looks up classes, checks ranges with the source line, builds shapes, fields and trees.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/load_guard.h"
#include "model/model.h"
#include "model/scene_view.h"
#include "worldfile/load_world.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Fields of occupancy grids made so far: worlds that read the same map alike share one. Cells come from
// images (map_server rules for ROS yaml files, MVSim rules for plain images) and serialized grids. Not
// thread-safe.
class GridCache {
 public:
  GridModel make(const OccupancyGridSpec& spec, LoadGuard& guard);

 private:
  // The map (which `maps_` keeps alive) and all that its cells depend on.
  using Key = std::tuple<const void*, bool, bool, double, double, std::string, double>;

  std::map<Key, GridField> fields_;
  std::vector<std::shared_ptr<const void>> maps_;
};

struct CompileOptions {
  bool strict = false;  // a warning is an error
  // Makes the drawer of each Model (views/draw_views.h); none: sensors that see cannot be read.
  ViewDrawerMaker make_drawer = {};
  std::vector<std::string> placed_blocks =
      {};  // name patterns of blocks that an environment places or resizes
  std::vector<std::string> driven_blocks = {};  // the same of those that its policies move
};

std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options = {});

// The same as one of several worlds, which share memory, poll and maps.
std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options,
                                           LoadGuard& guard, GridCache& grids);

// Reads and compiles a world file, within the memory that `load` allows.
std::shared_ptr<const Model> load_model(const std::string& path, const WorldLoadOptions& load = {},
                                        const CompileOptions& compile = {});

}  // namespace mvsim
