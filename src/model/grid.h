// Occupancy grid images -> cells (map_server rules for ROS yaml files, MVSim rules for plain images).
#pragma once

#include "model/model.h"
#include "worldfile/world_spec.h"

namespace mvsim {

GridModel make_grid(const OccupancyGridSpec& spec);

}  // namespace mvsim
