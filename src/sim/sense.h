// Sensing: hands to each kind of sensor what it needs, and keeps the readings that are due: values, or
// recipes of pictures, which are made from the poses of a Scene.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scene/scene.h"
#include "sim/scene_buffer.h"
#include "sim/sim_state.h"

namespace mvsim {

// Takes the readings that are due in the step of `dt` s that began at `start`.
void read_due_sensors(const Model& m, SimState& s, SceneBuffer& scene, double start, double dt);

// Takes a reading now, from the sensor's own noise stream: ReadingSpec::bytes(), and a flag for each value;
// `valid` may be null. Images have no flags.
void read_sensor(const Model& m, SimState& s, SceneBuffer& scene, size_t sensor, std::byte* values,
                 uint8_t* valid);

// Returns the mounting error of a sensor in its vehicle's frame (model/transfer_params.h).
Pose2 mount_error(const SimView& sim, const SensorModel& sensor);
// Draws from the sensor's noise stream whether a whole reading is missing. Lidars drop single rays instead.
bool drops_out(const Model& m, SimState& s, size_t sensor);

// The latest due reading of a sensor whose readings the state holds; empty for a picture.
std::span<const std::byte> reading_of(const SimView& sim, size_t sensor);
std::span<const uint8_t> reading_valid_of(const SimView& sim, size_t sensor);
// The same as float32. Throws Error if the reading has another type.
std::span<const float> float_reading_of(const SimView& sim, size_t sensor);
bool readings_are_finite(const SimView& sim);

// Adds the step that has just been made to the vehicle's built-in odometry.
void read_odometry(const Model& m, SimState& s, size_t vehicle, RotationMemo& yaws);

// Current poses of all frames of a Scene.

// One pose for each frame of the model's scene; replaces the contents of `poses`. Thread-compatible.
void scene_poses(const SimView& sim, std::vector<ScenePose>& poses);
// One for each of Model::recipe_frames.
void recipe_poses(const SimView& sim, std::vector<ScenePose>& poses);

// Pictures of view sensors as recipes: numbers from which, with the Model alone, the picture can be drawn
// again bit for bit (views/draw_views.h). A state and a snapshot hold recipes, no pixels.
//
// A recipe has these numbers, state_memory_size() in all (model/model.h): 1 (0 if no picture was
// taken), the key of the picture's noise in two halves, the mounting error of the sensor (x, y, yaw), its
// parameters, and the poses of Model::recipe_frames.

// Records what the sensor sees now. Draws the key from the sensor's noise stream.
void record_view(const Model& m, SimState& s, size_t sensor, double* recipe);

// The recipe of the latest due picture.
std::span<const double> view_recipe_of(const SimView& sim, size_t sensor);

}  // namespace mvsim
