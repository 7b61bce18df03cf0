// Inputs that observations need on a robot, and the fit of its scans to a lidar of the environment.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/geometry.h"
#include "task/task.h"

namespace mvsim {

// Lists the inputs that the observations of an environment need on a robot, by their class.

// The source of one key of the observation. `needs`: names of Pipeline inputs ("pose", "goal",
// "velocity"...).
struct ObservationSource {
  std::string key, class_name;
  std::vector<std::string> needs;
  std::string sensor;                  // sensor of its readings; "": none
  std::optional<size_t> sensor_index;  // in Model::sensors
  std::string privileged;              // reason why a robot cannot provide it; "": it can
  std::string instead;                 // possible replacement
  bool is_exact = false;               // the environment shows a pose or a velocity without any error
};

// Returns the sources of an agent's observations, in their order.
std::vector<ObservationSource> observation_sources(const Task& task, const EnvSpec& spec, size_t agent);

// Makes the terms of all agents read the state, as Pipeline needs it: sensors at their own period, velocities
// of the body.
void read_from_state(EnvSpec& spec);

// Converts the scan of a real lidar to the beams of an environment's lidar, with another order, field of
// view, number of beams or mount. Pure functions.

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

// Lidars with the same beams at the same position: each beam takes its own. Else each beam takes the minimum
// of the given beams in its cell, half a spacing to either side. An empty cell takes the nearest given beam,
// if half the given spacing reaches it and both lidars have the same position. Writes a range and a flag (1:
// a return) for each beam. Throws Error for a scan without directions.
ScanFit fit_scan(const GivenScan& given, const FittedLidar& lidar, float* ranges, uint8_t* valid);

}  // namespace mvsim
