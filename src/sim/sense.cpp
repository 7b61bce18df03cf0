#include "sim/sense.h"

#include "sim/measure.h"

namespace mvsim {

void read_due_sensors(const Model& m, SimState& s, SceneBuffer& scene, double start, double dt) {
  for (size_t i = 0; i < s.sensors.size(); ++i) {
    SensorState& state = s.sensors[i];
    const SensorModel& sensor = m.sensors[i];
    if (!state.scheduled || start < state.last_due + sensor.period - 1e-6) continue;
    state.last_due = start;
    state.stamp = start + dt;
    ++state.count;
    read_sensor(m, s, scene, i, s.readings.data() + sensor.values, s.reading_valid.data() + sensor.values);
  }
}

void read_sensor(const Model& m, SimState& s, SceneBuffer& buffer, size_t index, float* values,
                 uint8_t* valid) {
  const SensorModel& sensor = m.sensors.at(index);
  const int body = static_cast<int>(m.vehicles[sensor.vehicle].body);
  const SensorScene scene{.grids = buffer.grids(m),
                          .static_shapes = &m.static_shapes,
                          .moving = buffer.shapes(m, s.params, s.bodies, s.wheels, body)};
  sensor.sensor->read(s.params.data() + sensor.params, scene, {vehicle_pose({m, s}, sensor.vehicle), body},
                      s.sensors[index].noise, values, valid);
}

std::span<const float> reading_of(const Model& model, const SimState& s, size_t sensor) {
  const SensorModel& m = model.sensors.at(sensor);
  return {s.readings.data() + m.values, m.sensor->size()};
}

std::span<const uint8_t> reading_valid_of(const Model& model, const SimState& s, size_t sensor) {
  const SensorModel& m = model.sensors.at(sensor);
  return {s.reading_valid.data() + m.values, m.sensor->size()};
}

// The true displacement of the step, in the vehicle's frame before it, each part scaled.
void read_odometry(const Model& m, SimState& s, size_t index, RotationMemo& yaws) {
  const VehicleModel& v = m.vehicles[index];
  VehicleState& state = s.vehicles[index];
  const Pose2 pose = body_pose(s.bodies[v.body], m.origin);
  if (state.has_last_pose) {
    const double* k = s.params.data() + v.body_params + kOdometryX;
    const Vec2 moved =
        yaws.of(state.last_pose.yaw).unrotate({pose.x - state.last_pose.x, pose.y - state.last_pose.y});
    state.odometry =
        compose(state.odometry, {k[0] * moved.x, k[1] * moved.y, k[2] * (pose.yaw - state.last_pose.yaw)});
  }
  state.last_pose = pose;
  state.has_last_pose = true;
}

}  // namespace mvsim
