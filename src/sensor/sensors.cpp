#include "sensor/sensors.h"

#include <array>

#include "sensor/ray_sensor.h"
#include "sensor/view_sensor.h"

namespace mvsim {

// One line a class, which is declared by it.
constexpr auto kSensorClasses = std::to_array<SensorClass>({
    {"camera", compile_sensor<class Camera3d>},
    {"gnss", compile_sensor<class Gnss>},
    {"imu", compile_sensor<class Imu>},
    {"laser", compile_sensor<class Laser>},
    {"lidar3d", compile_sensor<class Lidar3d>},
    {"rgbd_camera", compile_sensor<class RgbdCamera>},
});

std::span<const SensorClass> sensor_classes() {
  return kSensorClasses;
}

std::vector<const View*> views_of(const Sensor& sensor) {
  std::vector<const View*> views;
  if (const ViewSensor* const eye = as_view_sensor(sensor))
    for (const ViewImage& image : eye->images()) views.push_back(&image.view);
  if (const RaySensor* const lidar = as_ray_sensor(sensor); lidar && lidar->view())
    views.push_back(lidar->view());
  return views;
}

Pose3 read_mount(const ParamSet& set, const Pose3& fallback, std::string_view z_tag) {
  Pose3 pose = fallback;
  for (const NamedText& value : set.values) {
    if (value.name == "pose") {
      const auto v = parse_numbers(value, 3, 3, "3 numbers: x y yaw (m, m, degrees)");
      pose = {.x = v[0], .y = v[1], .yaw = v[2] * kDegree};
    } else if (value.name == "pose_3d") {
      const auto v = parse_numbers(value, 6, 6, "6 numbers: x y z yaw pitch roll (m, degrees)");
      pose = {v[0], v[1], v[2], v[3] * kDegree, v[4] * kDegree, v[5] * kDegree};
    } else if (value.name == z_tag) {
      pose.z = parse_number(value);
    }
  }
  return pose;
}

}  // namespace mvsim
