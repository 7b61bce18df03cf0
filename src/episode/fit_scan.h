// Converts the scan of a real lidar to the beams of an environment's lidar, with another order, field of
// view, number of beams or mount. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/geometry.h"

namespace mvsim {

// Beam i points to angle_min + i * angle_increment (rad, in the scan's frame, counterclockwise positive).
struct GivenScan {
  std::span<const float> ranges;  // m; inf: no return; NaN, 0 and values below range_min: no reading
  double angle_min = 0, angle_increment = 0;
  double range_min = 0, range_max = std::numeric_limits<double>::infinity();  // m
  Pose2 T_vehicle_scan;
};

// The lidar of the environment.
struct FittedLidar {
  std::span<const double> angles;  // rad of each beam, evenly spaced, in its own frame
  Pose2 T_vehicle_lidar;
  double high = 0;  // m, value of a beam without a return
};

struct ScanFit {
  size_t uncovered = 0;  // beams of the environment without a valid given beam: they read `high`
  size_t invalid = 0;    // given beams without a reading
};

// Each beam takes the minimum of the given beams in its cell, half a spacing to either side. An empty cell
// takes the nearest given beam, if half the given spacing reaches it and both lidars have the same position.
// Writes a range and a flag (1: a return) for each beam. Throws Error for a scan without directions.
ScanFit fit_scan(const GivenScan& given, const FittedLidar& lidar, float* ranges, uint8_t* valid);

}  // namespace mvsim
