// Occupancy grids: cells of images (map_server rules for ROS yaml files, MVSim rules for plain images) and of
// serialized grids.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/load_guard.h"
#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Fields made so far: worlds that read the same map alike share one. Not thread-safe.
class GridCache {
 public:
  GridModel make(const OccupancyGridSpec& spec, LoadGuard& guard);

 private:
  // The map (which `maps_` keeps alive) and all that its cells depend on.
  using Key = std::tuple<const void*, bool, bool, double, double, std::string, double>;

  std::map<Key, GridField> fields_;
  std::vector<std::shared_ptr<const void>> maps_;
};

}  // namespace mvsim
