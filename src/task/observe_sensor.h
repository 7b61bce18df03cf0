// Common attributes of observations of a sensor: the sensor (`sensor`), its time of reading (`timing`), and
// its largest distance (`max`).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "task/terms.h"

namespace mvsim {

// Returns the sensor of the agent's vehicle that the attribute `sensor` names.
size_t find_sensor(TermReader& reader, const TaskContext& context);
// The same for a sensor of one class, by default the vehicle's first. `what` names the class in messages.
size_t find_sensor_of_class(TermReader& reader, const TaskContext& context, std::string_view class_name,
                            const std::string& what);

// Reads the attribute `timing`. True: the sensor keeps its own period, and is added to the task's scheduled
// sensors. False: it is read at the end of each control period.
bool read_timing(TermReader& reader, TaskContext& context, size_t sensor);

// Reads the attribute `max` of distances, m, by default the sensor's range. Warns if it is above the range.
double read_max(TermReader& reader, TaskContext& context, double range);

// Make observations of a view sensor: one image as it is read, and a scan of its distances.
std::unique_ptr<const Observation> make_image_reading(const Model& model, size_t sensor, size_t image,
                                                      bool scheduled);
std::unique_ptr<const Observation> make_view_scan(TermReader& reader, TaskContext& context, size_t sensor);

}  // namespace mvsim
