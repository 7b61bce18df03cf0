// Visible prism of a block.
#pragma once

#include "base/geometry3.h"
#include "model/model.h"
#include "scene/shapes.h"

namespace mvsim {

struct PlacedPrism {
  Prism prism;
  Frame3 T_block_prism;
};

PlacedPrism block_prism(const BlockModel& block);

}  // namespace mvsim
