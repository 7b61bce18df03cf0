// Sensor class `laser`. It casts rays in the plane (lidar2d.cpp), or with <raytrace_3d> in the visible scene
// (laser3d.cpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raycast/beams.h"
#include "sensor/sensors.h"

namespace mvsim {

struct LaserTags {
  Pose3 pose;  // T_vehicle_sensor
  double fov = 0;
  int rays = 0;
  double max_range = 0;
  bool bodies_visible = true, raytrace_3d = false, ignore_parent_body = false;
  double range_noise = 0, angle_noise = 0;  // standard deviations, m and rad
};

// Parameters that an environment may randomise: range noise, and angle noise (2D lasers only).
std::span<const ParamInfo> laser_noise_params();

// Makes the table of beams; its memory is counted first.
BeamTable laser_beams(const SensorSpec& spec, const LaserTags& tags, LoadGuard& guard);
std::vector<double> angles_of(const BeamTable& beams);
ReadingSpec laser_reading(const LaserTags& tags);

// Each defined in its own file.
std::unique_ptr<const Sensor> make_lidar2d(const LaserTags& tags, BeamTable beams);
std::unique_ptr<const Sensor> make_laser3d(const LaserTags& tags, const BeamTable& beams);

}  // namespace mvsim
