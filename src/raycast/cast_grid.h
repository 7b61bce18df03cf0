// Exact 2D rays against an occupancy grid.
//
// Directions and ranges are floats. The marching only finds the cell. The range is then one expression of the
// cell and the ray, so every instruction set gives the same bits. Pure function, any thread.
#pragma once

#include "raycast/grid_field.h"

namespace mvsim {

// Casts `count` rays from (x, y) [m, grid frame, inside of the grid or not] along the unit directions (dx[i],
// dy[i]). range[i] becomes the distance [m] to the border of the first occupied cell, if that is at most
// max_range and less than range[i]. A ray that starts in an occupied cell gives 0. A ray that first meets an
// unknown cell, leaves the grid or goes beyond max_range does not change range[i]. No ray passes between two
// occupied cells that share a corner.
void cast_grid(const GridField& grid, double x, double y, const float* dx, const float* dy, int count,
               double max_range, float* range);

}  // namespace mvsim
