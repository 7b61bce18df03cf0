// Sensing: the readings that are due, a reading of now, the built-in odometry.
#pragma once

#include <span>

#include "sim/rotation_memo.h"
#include "sim/scene_buffer.h"
#include "sim/sim_state.h"

namespace mvsim {

// The readings that are due in the step of `dt` s that began at `start`.
void read_due_sensors(const Model& m, SimState& s, SceneBuffer& scene, double start, double dt);

// A reading of now, from the sensor's own noise stream; `valid` may be null.
void read_sensor(const Model& m, SimState& s, SceneBuffer& scene, size_t sensor, float* values,
                 uint8_t* valid);

// The latest due reading of a sensor.
std::span<const float> reading_of(const Model& m, const SimState& s, size_t sensor);
std::span<const uint8_t> reading_valid_of(const Model& m, const SimState& s, size_t sensor);

// Adds the step that has just been made to the vehicle's built-in odometry.
void read_odometry(const Model& m, SimState& s, size_t vehicle, RotationMemo& yaws);

}  // namespace mvsim
