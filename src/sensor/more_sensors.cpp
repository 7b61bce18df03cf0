// Default of more_sensor_classes(): no further sensors. A build with sensors of its own defines the function
// again (tests/cpp/sensor/test_sensors.cpp); this one is alone in its object file, so the linker then leaves
// it out.
#include "sensor/sensors.h"

namespace mvsim {

std::span<const SensorClass> more_sensor_classes() {
  return {};
}

}  // namespace mvsim
