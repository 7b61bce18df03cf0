// A scan of a real lidar on the beams of an environment's: another order, field of view, number of beams,
// mount. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/geometry.h"

namespace mvsim {

// Beam i points to angle_min + i * angle_increment (rad, in the scan's frame, counterclockwise positive).
struct GivenScan {
  std::span<const float> ranges;  // m; inf: nothing is seen; NaN, 0 and what is below range_min: no reading
  double angle_min = 0, angle_increment = 0;
  double range_min = 0, range_max = std::numeric_limits<double>::infinity();  // m
  Pose2 T_vehicle_scan;
};

// Of the lidar that the environment describes.
struct FittedLidar {
  std::span<const double> angles;  // rad of each beam, evenly spaced, in its own frame
  Pose2 T_vehicle_lidar;
  double high = 0;  // m, what a beam without a return reads
};

struct ScanFit {
  size_t uncovered = 0;  // beams of the environment that no valid beam falls on: they read `high`
  size_t invalid = 0;    // given beams without a reading
};

// Each beam takes the minimum of the given ones that fall into its cell, half a spacing to either side. A
// cell without one takes the given beam nearest to it, if half the given spacing reaches it and both lidars
// stand at one place. Writes a range and a flag (did it hit?) for each beam. Throws Error for a scan without
// direction.
ScanFit fit_scan(const GivenScan& given, const FittedLidar& lidar, float* ranges, uint8_t* valid);

}  // namespace mvsim
