// The registered sensor classes, one accessor each.
#pragma once

#include "sensor/sensor.h"

namespace mvsim {

const SensorClass& lidar2d_class();

}  // namespace mvsim
