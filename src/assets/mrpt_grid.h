// Occupancy grids as MRPT serializes them (`.gridmap`, `.gridmap.gz`). Thread-safe; sizes are checked before
// memory is taken.
#pragma once

#include <cstdint>
#include <vector>

#include "assets/file_roots.h"

namespace mvsim {

struct MrptGrid {
  int width = 0, height = 0;
  double resolution = 0;        // m
  double x_min = 0, y_min = 0;  // m, world place of the lower left corner
  std::vector<int8_t> cells;    // row 0 has the smallest y; log-odds of being free, in steps of 1/16
};

// Throws Error with the reason; WorldFileError at `where` if memory does not suffice.
MrptGrid read_mrpt_grid(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
