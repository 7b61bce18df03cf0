// Draws the images of view sensors from recipes (sim/view_recipe.h), of one world or of many at once.
#pragma once

#include <cstddef>
#include <span>

#include "model/model.h"

namespace mvsim {

struct DeviceImage;

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

// Draws images. The content of an image does not depend on the others of the call. Images of one sensor and
// one moment take less time if they stand together. An image that was not taken is zero. Throws Error where
// nothing can draw.
void draw_views(std::span<const ViewDrawing> drawings);
// One of the images of a sensor, for each frame.
void draw_views(size_t sensor, size_t image, std::span<const ViewFrame> frames);

// The same in two parts, for images of many worlds. First, in one call, all that OpenGL draws; then, on any
// threads, the rest: images that rays draw, and what is the sensor's own.
void draw_egl_views(std::span<const ViewDrawing> drawings);
void complete_views(std::span<const ViewDrawing> drawings);

// Whether OpenGL draws views of such a model, and of these the image of a sensor.
bool draws_by_egl(const Model& model);
bool draws_by_egl(const Model& model, size_t sensor, size_t image);

}  // namespace mvsim
