#include "sensor/sensors.h"

#include <array>

namespace mvsim {

std::span<const SensorClass* const> sensor_classes() {
  static const std::array kClasses{
      &lidar2d_class(),
  };
  return kClasses;
}

}  // namespace mvsim
