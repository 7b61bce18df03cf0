#include "sensor/sensors.h"

#include <array>

#include "sensor/ray_sensor.h"
#include "sensor/view_sensor.h"

namespace mvsim {

// One line a class, which is declared by it: its name, its compiler, the form of its readings, its prefix.
constexpr auto kSensorClasses = std::to_array<SensorClass>({
    {"camera", compile_sensor<class Camera3d>, ReadingForm::kCamera},
    {"gnss", compile_sensor<class Gnss>, ReadingForm::kFix},
    {"imu", compile_sensor<class Imu>, ReadingForm::kImu},
    {"laser", compile_sensor<class Laser>, ReadingForm::kScan},
    {"lidar3d", compile_sensor<class Lidar3d>, ReadingForm::kRings, "laser"},
    {"rgbd_camera", compile_sensor<class RgbdCamera>, ReadingForm::kRgbd, "camera"},
});

std::span<const SensorClass> sensor_classes() {
  return kSensorClasses;
}

std::vector<SensorPrefix> sensor_prefixes() {
  std::vector<SensorPrefix> out;
  for (const SensorClass& c : sensor_classes())
    if (!c.prefix.empty()) out.push_back({c.name, c.prefix});
  return out;
}

const SensorClass* find_sensor_class(std::string_view name) {
  for (const auto& some : {sensor_classes(), more_sensor_classes()})
    for (const SensorClass& c : some)
      if (c.name == name) return &c;
  return nullptr;
}

const char* name_of(ReadingForm form) {
  constexpr const char* kNames[] = {"values", "scan", "imu", "fix", "camera", "rgbd", "rings"};
  return kNames[static_cast<size_t>(form)];
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
