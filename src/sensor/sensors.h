// Registry of sensor classes by the name in <sensor class="...">.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_guard.h"
#include "sensor/sensor.h"
#include "worldfile/load_world.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct View;

// Compiles a <sensor>. Counts the memory of its tables and readings in `guard` before it allocates them.
// Each class specialises this in its own file.
template <class S>
std::unique_ptr<const Sensor> compile_sensor(const SensorSpec& spec, LoadGuard& guard,
                                             std::vector<std::string>& warnings);

// Tags that all classes understand, in addition to their own.
inline constexpr std::string_view kCommonSensorTags[] = {"pose", "pose_3d", "sensor_period"};

// Reads T_vehicle_sensor from <pose>, <pose_3d> and, if `z_tag` is given, its z from that tag. For each
// coordinate the last of these tags in the document counts.
Pose3 read_mount(const ParamSet& set, const Pose3& fallback, std::string_view z_tag = {});

// The form of a reading. Python names its parts and finds its messages by it, whatever the class.
enum class ReadingForm : uint8_t {
  kValues,  // no names: an array
  kScan,    // ranges of a fan of rays (a RaySensor)
  kImu,     // angular velocity, acceleration and, if there are ten values, orientation
  kFix,     // latitude, longitude, altitude, east, north, up, two standard deviations
  kCamera,  // images "image" and "labels" of one pinhole camera
  kRgbd,    // images "depth", "image" or both, and "labels", of pinhole cameras
  kRings,   // images "range_image", perhaps "intensity", and "labels", of a 3D lidar
};
const char* name_of(ReadingForm form);

struct SensorClass {
  std::string_view name;
  decltype(&compile_sensor<Sensor>) compile;
  ReadingForm form = ReadingForm::kValues;
  std::string_view prefix = {};  // of the names of unnamed sensors; empty: `name`
};

// Returns the views of a sensor, in the order of its images. Empty for a sensor without views.
std::vector<const View*> views_of(const Sensor& sensor);

std::span<const SensorClass> sensor_classes();
// The prefixes of sensor_classes(), for WorldLoadOptions.
std::vector<SensorPrefix> sensor_prefixes();
// Finds a class in sensor_classes() and more_sensor_classes(). Returns null if there is no such name.
const SensorClass* find_sensor_class(std::string_view name);
// Returns further classes. The package has none; tests link classes of their own instead of more_sensors.cpp.
std::span<const SensorClass> more_sensor_classes();

}  // namespace mvsim
