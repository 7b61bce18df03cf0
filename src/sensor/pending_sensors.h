// Sensor classes that the world language has and whose readings are still to come: their parameters are
// checked, their pose and period kept. A class that is registered in sensors.cpp takes its row out of here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct PendingSensorClass {
  std::string_view name;
  std::span<const ParamInfo> params;
  Pose3 mount;  // where nothing is said
};

std::span<const PendingSensorClass> pending_sensor_classes();

// Checks the parameters of a <sensor>; returns T_vehicle_sensor.
Pose3 check_pending_sensor(const PendingSensorClass& sensor_class, const SensorSpec& spec,
                           std::vector<std::string>& warnings);

}  // namespace mvsim
