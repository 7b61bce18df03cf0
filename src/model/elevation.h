// Images and matrices of heights -> height maps.
#pragma once

#include "base/load_guard.h"
#include "terrain/height_map.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// `nodes`: those of the world's maps so far; the sum is limited.
HeightMap make_height_map(const ElevationMapSpec& spec, LoadGuard& guard, size_t& nodes);

}  // namespace mvsim
