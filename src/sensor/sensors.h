// Seam: sensor classes by the name that a <sensor class="..."> gives.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_guard.h"
#include "sensor/sensor.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct View;

// Compiles a <sensor>; counts the memory of its tables and readings before it takes it. Each class defines
// this for itself, in its own file.
template <class S>
std::unique_ptr<const Sensor> compile_sensor(const SensorSpec& spec, LoadGuard& guard,
                                             std::vector<std::string>& warnings);

// What all classes understand, beside what they have of their own.
inline constexpr std::string_view kCommonSensorTags[] = {"pose", "pose_3d", "sensor_period"};

// T_vehicle_sensor of <pose> and <pose_3d>, and of its z alone under `z_tag` if there is one. The last writer
// of each coordinate wins, in document order.
Pose3 read_mount(const ParamSet& set, const Pose3& fallback, std::string_view z_tag = {});

struct SensorClass {
  std::string_view name;
  decltype(&compile_sensor<Sensor>) compile;
};

// The views that are drawn of a sensor, in the order of its images; none of one that is read otherwise.
std::vector<const View*> views_of(const Sensor& sensor);

std::span<const SensorClass> sensor_classes();
// More of them, none in the package: a build of the tests links classes of its own in place of
// more_sensors.cpp.
std::span<const SensorClass> more_sensor_classes();

}  // namespace mvsim
