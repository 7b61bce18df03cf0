// The part of Simulation that reads sensors.
#include "sim/simulation.h"

namespace mvsim {

void Simulation::read_due_sensors(double start, double dt) {
  for (size_t i = 0; i < state_.sensors.size(); ++i) {
    SensorState& s = state_.sensors[i];
    const SensorModel& m = model_->sensors[i];
    if (!s.scheduled || start < s.last_due + m.period - 1e-6) continue;
    s.last_due = start;
    s.stamp = start + dt;
    ++s.count;
    read_sensor(i, state_.readings.data() + m.values, state_.reading_valid.data() + m.values);
  }
}

void Simulation::read_now(size_t sensor, float* values, uint8_t* valid) {
  read_sensor(sensor, values, valid);
}

void Simulation::read_sensor(size_t index, float* values, uint8_t* valid) {
  const Model& m = *model_;
  const SensorModel& sensor = m.sensors.at(index);
  const int body = static_cast<int>(m.vehicles[sensor.vehicle].body);
  const SensorScene scene{.grids = work_.scene.grids(m),
                          .static_shapes = &m.static_shapes,
                          .moving = work_.scene.shapes(m, state_.params, state_.bodies, state_.wheels, body)};
  sensor.sensor->read(state_.params.data() + sensor.params, scene,
                      {vehicle_pose(*this, sensor.vehicle), body}, state_.sensors[index].noise, values,
                      valid);
}

std::span<const float> Simulation::reading(size_t sensor) const {
  const SensorModel& m = model_->sensors.at(sensor);
  return {state_.readings.data() + m.values, m.sensor->size()};
}

std::span<const uint8_t> Simulation::reading_valid(size_t sensor) const {
  const SensorModel& m = model_->sensors.at(sensor);
  return {state_.reading_valid.data() + m.values, m.sensor->size()};
}

}  // namespace mvsim
