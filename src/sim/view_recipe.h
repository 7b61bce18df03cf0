// Pictures of view sensors as recipes: numbers from which, with the Model alone, the picture can be drawn
// again bit for bit. A state and a snapshot hold recipes, no pixels.
//
// A recipe is 1 (0: none was taken), the key of the picture's noise in two halves, by how much the
// sensor sits askew (x, y, yaw), its parameters, and the poses of Model::recipe_frames; state_memory_size()
// numbers (model/sensor_layout.h).
#pragma once

#include <cstddef>
#include <span>

#include "sim/sim_state.h"

namespace mvsim {

struct DeviceImage;
struct View;

// What the sensor sees now. Draws the key from the sensor's noise stream.
void record_view(const Model& m, SimState& s, size_t sensor, double* recipe);

// Of the latest due picture.
std::span<const double> view_recipe_of(const SimView& sim, size_t sensor);

struct ViewFrame {
  const Model* model;
  const double* recipe;
  std::byte* out;  // ReadingSpec::bytes() of the image
  // Where not null, `out` is an address in a GPU's memory: draw_egl_views() alone writes there, all of it.
  const DeviceImage* on_device = nullptr;
};

// One of the images of a sensor (ViewSensor::images).
struct ViewDrawing {
  size_t sensor, image;
  ViewFrame frame;
};

// What an image shows does not depend on which others are drawn with it; those of one sensor that show the
// same moment, one after the other, take less time together. Where none was taken it is zero. Throws Error
// where nothing can draw.
void draw_views(std::span<const ViewDrawing> drawings);
// One of the images of a sensor, for each frame.
void draw_views(size_t sensor, size_t image, std::span<const ViewFrame> frames);

// The same in two parts, for those who have images of many worlds. First, in one call, what OpenGL draws all
// at once; then, on any threads, the rest: images that rays draw, and what is the sensor's own.
void draw_egl_views(std::span<const ViewDrawing> drawings);
void complete_views(std::span<const ViewDrawing> drawings);

// What the view of a RaySensor shows now, cast by rays whatever draws cameras: m along each ray, 0 where
// nothing is seen. Draws from no stream.
void cast_view(const SimView& sim, size_t sensor, const View& view, float* distances);

// Who draws the cameras of such a model, as snapshots tell it; kAuto where it has none, or nobody has yet.
CameraBackend drawer_of(const Model& model);

// Whether OpenGL draws views of such a model, and of these the image of a sensor.
bool draws_by_egl(const Model& model);
bool draws_by_egl(const Model& model, size_t sensor, size_t image);

}  // namespace mvsim
