// Sensor class `laser`, as its tags say: read in the plane (lidar2d.cpp), or with <raytrace_3d> in the scene
// that eyes see (laser3d.cpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raycast/directions.h"
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

// What an environment may randomise: range noise, angle noise (which only the plane has).
std::span<const ParamInfo> laser_noise_params();

// The table of beams, counted before it is made.
BeamTable laser_beams(const SensorSpec& spec, const LaserTags& tags, LoadGuard& guard);
std::vector<double> angles_of(const BeamTable& beams);
ReadingSpec laser_reading(const LaserTags& tags);

// Each defined in its own file.
std::unique_ptr<const Sensor> make_lidar2d(const LaserTags& tags, BeamTable beams);
std::unique_ptr<const Sensor> make_laser3d(const LaserTags& tags, const BeamTable& beams);

}  // namespace mvsim
