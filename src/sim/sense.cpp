#include "sim/sense.h"

#include <cmath>
#include <cstring>

#include "model/sensor_layout.h"
#include "sensor/odometry.h"
#include "sensor/state_sensor.h"
#include "sim/measure.h"
#include "sim/view_recipe.h"

namespace mvsim {
namespace {

// What a state holds of a sensor's reading: nothing of a picture.
size_t held(const Sensor& sensor, size_t size) {
  return sensor.kind() == SensorKind::kView ? 0 : size;
}

BodyMotion motion_of(const Model& m, const SimState& s, size_t vehicle, RotationMemo& yaws) {
  if (vehicle == SensorModel::kNoVehicle)
    return {.time = s.time, .gravity = m.gravity, .site = m.site ? &*m.site : nullptr};
  const VehicleState& v = s.vehicles[vehicle];
  const Pose3 pose = vehicle_pose({m, s}, vehicle);
  const Pose2 before = v.has_last_pose ? v.last_pose : Pose2{pose.x, pose.y, pose.yaw};
  return {.time = s.time,
          .pose = pose,
          .twist = {v.last_velocity.x, v.last_velocity.y, s.bodies[m.vehicles[vehicle].body].omega},
          .acceleration = v.acceleration,
          .pose_before = before,
          .heading_before = yaws.of(before.yaw),
          .gravity = m.gravity,
          .site = m.site ? &*m.site : nullptr};
}

SensorOwn own_of(const SensorModel& sensor, SimState& s, size_t index) {
  return {s.params.data() + sensor.params, s.memory.data() + sensor.memory, &s.sensors[index].noise};
}

// What it hangs on; a sensor that stands in the world stands at its mount and has no body.
SensorMount mount_of(const Model& m, const SimState& s, const SensorModel& sensor) {
  if (sensor.is_standalone()) return {};
  return {vehicle_pose({m, s}, sensor.vehicle), static_cast<int>(m.vehicles[sensor.vehicle].body)};
}

// `moving`: what the sensor may see; it passes over its own body.
void read_rays(const Model& m, SimState& s, SceneBuffer& scene, size_t index,
               std::span<const MovingShape> moving, std::byte* values, uint8_t* valid) {
  const SensorModel& sensor = m.sensors[index];
  const SensorScene seen{.grids = scene.grids(m), .static_shapes = &m.static_shapes, .moving = moving};
  static_cast<const RaySensor&>(*sensor.sensor)
      .read(own_of(sensor, s, index), seen, mount_of(m, s, sensor), reinterpret_cast<float*>(values), valid);
}

}  // namespace

void read_due_sensors(const Model& m, SimState& s, SceneBuffer& scene, double start, double dt) {
  scene.begin_moment();
  for (size_t i = 0; i < s.sensors.size(); ++i) {
    SensorState& state = s.sensors[i];
    const SensorModel& sensor = m.sensors[i];
    if (!state.scheduled || start < state.last_due + sensor.period - 1e-6) continue;
    state.last_due = start;
    state.stamp = start + dt;
    ++state.count;
    std::byte* const values = s.readings.bytes.data() + sensor.bytes;
    uint8_t* const valid = s.reading_valid.data() + sensor.values;
    const SensorKind kind = sensor.sensor->kind();
    if (kind == SensorKind::kView)
      record_view(m, s, i, s.memory.data() + sensor.memory);
    else
      read_sensor(m, s, scene, i, values, valid);
  }
}

void read_sensor(const Model& m, SimState& s, SceneBuffer& scene, size_t index, std::byte* values,
                 uint8_t* valid) {
  const SensorModel& sensor = m.sensors.at(index);
  switch (sensor.sensor->kind()) {
    case SensorKind::kRay:
      read_rays(m, s, scene, index,
                m.vehicles.size() > 1  // others see the same things
                    ? scene.all_shapes(m, s.params, s.bodies, s.wheels)
                    : scene.shapes(m, s.params, s.bodies, s.wheels, mount_of(m, s, sensor).body),
                values, valid);
      return;
    case SensorKind::kState: {
      RotationMemo yaws;
      static_cast<const StateSensor&>(*sensor.sensor)
          .read(own_of(sensor, s, index), motion_of(m, s, sensor.vehicle, yaws), values, valid);
      return;
    }
    case SensorKind::kView: {
      std::vector<double> recipe(state_memory_size(m, *sensor.sensor));
      record_view(m, s, index, recipe.data());
      const ViewFrame frame{&m, recipe.data(), values};
      draw_views(index, 0, {&frame, 1});
      return;
    }
  }
}

std::span<const std::byte> reading_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  return {sim.state.readings.bytes.data() + sensor.bytes,
          held(*sensor.sensor, sensor.sensor->reading().bytes())};
}

std::span<const uint8_t> reading_valid_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  return {sim.state.reading_valid.data() + sensor.values,
          held(*sensor.sensor, sensor.sensor->reading().size())};
}

std::span<const float> float_reading_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  const ReadingSpec& reading = sensor.sensor->reading();
  if (sensor.sensor->kind() == SensorKind::kView || reading.dtype != DType::kFloat32)
    throw Error("sensor '" + sensor.name + "': its state holds no values of float32");
  return {reinterpret_cast<const float*>(sim.state.readings.bytes.data() + sensor.bytes), reading.size()};
}

bool readings_are_finite(const SimView& sim) {
  for (size_t i = 0; i < sim.model.sensors.size(); ++i) {
    const std::span<const std::byte> bytes = reading_of(sim, i);
    const bool finite = with_dtype(sim.model.sensors[i].sensor->reading().dtype, [&](auto value) {
      for (size_t at = 0; at < bytes.size(); at += sizeof value) {
        std::memcpy(&value, bytes.data() + at, sizeof value);
        if (!std::isfinite(static_cast<double>(value))) return false;
      }
      return true;
    });
    if (!finite) return false;
  }
  return true;
}

void read_odometry(const Model& m, SimState& s, size_t vehicle, RotationMemo& yaws) {
  VehicleState& v = s.vehicles[vehicle];
  const BodyMotion motion = motion_of(m, s, vehicle, yaws);
  if (v.has_last_pose)
    v.odometry =
        Odometry::add(v.odometry, s.params.data() + m.vehicles[vehicle].body_params + kOdometryX, motion);
  v.last_pose = {motion.pose.x, motion.pose.y, motion.pose.yaw};
  v.has_last_pose = true;
}

}  // namespace mvsim
