// Observations that have a file of their own, for the registry in observations.cpp.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

// `wheels`: chosen quantities of every wheel at the end of the control period.
std::unique_ptr<const Observation> make_wheels_observation(TermReader& reader, TaskContext& context);

// `height_scan`: how high the ground around the robot lies.
std::unique_ptr<const Observation> make_height_scan(TermReader& reader, TaskContext& context);

// `neighbours`: the nearest other agents.
std::unique_ptr<const Observation> make_neighbours_observation(TermReader& reader, TaskContext& context);

// `centreline`, `opponent`, `steer`: of races.
std::unique_ptr<const Observation> make_centreline_observation(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_opponent_observation(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_steer_observation(TermReader& reader, TaskContext& context);

// `reading`: a sensor of any kind, as its ReadingSpec says.
std::unique_ptr<const Observation> make_reading_observation(TermReader& reader, TaskContext& context);

// `imu`: rates, accelerations and orientation within bounds.
std::unique_ptr<const Observation> make_imu_observation(TermReader& reader, TaskContext& context);

// `gnss`: the position in metres, and whether there is one.
std::unique_ptr<const Observation> make_gnss_observation(TermReader& reader, TaskContext& context);

// `image`, `depth`, `labels`, `range_image`: what a camera or a 3D lidar sees.
std::unique_ptr<const Observation> make_image_observation(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_depth_observation(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_labels_observation(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_range_image_observation(TermReader& reader, TaskContext& context);
// `scan` of one, which must have distances.
std::unique_ptr<const Observation> make_view_scan(TermReader& reader, TaskContext& context, size_t sensor);
// `points`: the returns of a 3D lidar or a depth camera as points.
std::unique_ptr<const Observation> make_points_observation(TermReader& reader, TaskContext& context);

// One image of a view sensor, as it is read.
std::unique_ptr<const Observation> make_image_reading(const Model& model, size_t sensor, size_t image,
                                                      bool scheduled);

// The sensor of the agent's vehicle that the attribute `sensor` names; of one class, by default the first.
size_t find_sensor(TermReader& reader, const TaskContext& context);
// The attribute `max` of an observation of distances, m; by default the sensor's range. More warns.
double read_max(TermReader& reader, TaskContext& context, double range);
size_t find_sensor_of_class(TermReader& reader, const TaskContext& context, std::string_view class_name,
                            const std::string& what);

}  // namespace mvsim
