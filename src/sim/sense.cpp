#include "sim/sense.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/model.h"
#include "model/scene_view.h"
#include "model/transfer_params.h"
#include "sensor/sensor.h"
#include "sim/measure.h"

namespace mvsim {
namespace {

// Returns how many of `size` entries of a reading a state holds: none of an image.
size_t held(const Sensor& sensor, size_t size) {
  return sensor.kind() == SensorKind::kView ? 0 : size;
}

BodyMotion motion_of(const Model& m, const SimState& s, size_t vehicle) {
  if (vehicle == SensorModel::kNoVehicle)
    return {.time = s.time, .gravity = m.gravity, .site = m.site ? &*m.site : nullptr};
  const VehicleState& v = s.vehicles[vehicle];
  return {.time = s.time,
          .pose = vehicle_pose({m, s}, vehicle),
          .twist = {v.last_velocity.x, v.last_velocity.y, s.bodies[m.vehicles[vehicle].body].omega},
          .acceleration = v.acceleration,
          .gravity = m.gravity,
          .site = m.site ? &*m.site : nullptr};
}

SensorOwn own_of(const SensorModel& sensor, SimState& s, size_t index) {
  return {s.params.data() + sensor.params, s.memory.data() + sensor.memory, &s.sensors[index].noise};
}

// Applies the mounting error `by` of a sensor: turns and shifts the frame on which it is mounted.
void misplace(const Pose3& mount, const Pose2& by, Pose3& vehicle) {
  if (by.x == 0 && by.y == 0 && by.yaw == 0) return;
  const Vec2 turned = Rotation2(by.yaw).rotate({mount.x, mount.y});
  const Pose2 moved = compose({vehicle.x, vehicle.y, vehicle.yaw},
                              {mount.x + by.x - turned.x, mount.y + by.y - turned.y, by.yaw});
  vehicle.x = moved.x;
  vehicle.y = moved.y;
  vehicle.yaw = moved.yaw;
}

// Returns the pose and the body that carry a sensor. A sensor of the world itself has no body.
SensorMount mount_of(const Model& m, const SimState& s, const SensorModel& sensor) {
  SensorMount out;
  if (!sensor.is_standalone())
    out = {vehicle_pose({m, s}, sensor.vehicle), static_cast<int>(m.vehicles[sensor.vehicle].body)};
  misplace(sensor.sensor->mount(), mount_error({m, s}, sensor), out.T_world_vehicle);
  return out;
}

// Rays that return nothing, each with the sensor's probability.
void drop_rays(const Model& m, SimState& s, size_t index, float* ranges, uint8_t* valid) {
  const SensorModel& sensor = m.sensors[index];
  const double probability = s.params[sensor.transfer_params + kReadingDropout];
  if (probability == 0) return;
  const ReadingSpec& reading = sensor.sensor->reading();
  for (size_t i = 0; i < reading.size(); ++i) {
    if (s.sensors[index].noise.uniform() >= probability) continue;
    ranges[i] = static_cast<float>(reading.high);
    if (valid) valid[i] = 0;
  }
}

// From the plane: the shapes of all vehicles, of which a sensor passes over those of its own.
void read_plane(const Model& m, SimState& s, SceneBuffer& scene, size_t index, float* ranges,
                uint8_t* valid) {
  const SensorModel& sensor = m.sensors[index];
  const SensorMount mount = mount_of(m, s, sensor);
  const SensorScene seen{.grids = scene.grids(m),
                         .static_shapes = &m.static_shapes,
                         .moving = m.vehicles.size() > 1  // others see the same things
                                       ? scene.all_shapes(m, s.params, s.bodies, s.wheels)
                                       : scene.shapes(m, s.params, s.bodies, s.wheels, mount.body)};
  static_cast<const RaySensor&>(*sensor.sensor).read(own_of(sensor, s, index), seen, mount, ranges, valid);
}

void read_rays(const Model& m, SimState& s, SceneBuffer& scene, size_t index, float* ranges, uint8_t* valid) {
  const SensorModel& sensor = m.sensors[index];
  const auto& lidar = static_cast<const RaySensor&>(*sensor.sensor);
  if (const View* const view = lidar.view()) {
    std::vector<float> seen(lidar.angles().size());
    std::vector<ScenePose> poses;
    recipe_poses({m, s}, poses);
    drawer_of(m).cast(m, index, *view, mount_error({m, s}, sensor), poses, seen.data());
    lidar.read_view(own_of(sensor, s, index), seen.data(), ranges, valid);
  } else {
    read_plane(m, s, scene, index, ranges, valid);
  }
  drop_rays(m, s, index, ranges, valid);
}

// The latest multiple of the period that a reading at `start` stands for, so that the mean rate is kept where
// the period is no multiple of the step. Where it is one, that is `start` itself, whatever rounding it has.
double due_time(double last_due, double period, double start) {
  constexpr double kRounding = 1e-9;  // s
  const double count = std::floor((start - last_due) / period + 1e-6 / period);
  const double due = last_due + std::max(count, 1.0) * period;
  return std::fabs(start - due) < kRounding ? start : due;
}

}  // namespace

Pose2 mount_error(const SimView& sim, const SensorModel& sensor) {
  if (sensor.sensor->kind() == SensorKind::kState) return {};
  const double* const p = sim.state.params.data() + sensor.transfer_params;
  return {p[kMountX], p[kMountY], p[kMountYaw]};
}

bool drops_out(const Model& m, SimState& s, size_t index) {
  const SensorModel& sensor = m.sensors.at(index);
  if (sensor.sensor->kind() == SensorKind::kRay) return false;
  const double probability = s.params[sensor.transfer_params + kReadingDropout];
  return probability > 0 && s.sensors[index].noise.uniform() < probability;
}

void read_due_sensors(const Model& m, SimState& s, SceneBuffer& scene, double start, double dt) {
  scene.begin_moment();
  for (size_t i = 0; i < s.sensors.size(); ++i) {
    SensorState& state = s.sensors[i];
    const SensorModel& sensor = m.sensors[i];
    if (!state.scheduled || start < state.last_due + sensor.period - 1e-6) continue;
    state.last_due = due_time(state.last_due, sensor.period, start);
    if (drops_out(m, s, i)) continue;  // the reading before stays
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
      read_rays(m, s, scene, index, reinterpret_cast<float*>(values), valid);
      return;
    case SensorKind::kState:
      static_cast<const StateSensor&>(*sensor.sensor)
          .read(own_of(sensor, s, index), motion_of(m, s, sensor.vehicle), values, valid);
      return;
    case SensorKind::kView: {
      std::vector<double> recipe(state_memory_size(m, *sensor.sensor));
      record_view(m, s, index, recipe.data());
      drawer_of(m).draw(m, index, recipe.data(), values);
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
      if (std::is_integral_v<decltype(value)>) return true;
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
  const VehicleModel& model = m.vehicles[vehicle];
  VehicleState& v = s.vehicles[vehicle];
  const Pose2 pose = body_pose(s.bodies[model.body]);
  if (v.has_last_pose)
    v.odometry = add_odometry(v.odometry, s.params.data() + model.body_params + kOdometryX, v.last_pose,
                              yaws.of(v.last_pose.yaw), pose);
  v.last_pose = pose;
  v.has_last_pose = true;
}

}  // namespace mvsim
