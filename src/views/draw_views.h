// Drawing of views: their scenes, and pictures from recipes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/loaded_library.h"
#include "model/model.h"
#include "model/scene_view.h"
#include "render/level/flat_scene.h"
#include "render/rays/ray_scene.h"
#include "render/rays/ray_view.h"
#include "scene/scene.h"

namespace mvsim {

// Draws the images of view sensors from recipes (sim/sense.h), of one world or of many at once.

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

// The drawer of a Model: its scene made ready for rays, for the plane and for OpenGL, each when it is first
// needed. Any thread.

// An image of a sensor and where it is drawn.
struct ImageTarget {
  size_t sensor, image;
  const View* view;
  std::byte* out;
};

class ViewScenes final : public ViewDrawer {
 public:
  explicit ViewScenes(CameraBackend wanted) : wanted_(wanted) {}

  void cast(const Model& model, size_t sensor, const View& view, const Pose2& mount_error,
            std::span<const ScenePose> poses, float* distances) const override;
  void draw(const Model& model, size_t sensor, const double* recipe, std::byte* out) const override;
  CameraBackend known_backend() const override;

  CameraBackend wanted() const { return wanted_; }
  // Draws images without OpenGL, all from one eye and along the same rays: those that look level in the
  // plane, the others by rays.
  void draw_images(const Model& model, const ViewPoint& from, std::span<const ScenePose> poses,
                   std::span<const ImageTarget> images) const;
  // The scene that OpenGL uploads.
  std::shared_ptr<const RayScene> raster_scene(const Model& model) const;

 private:
  const RayScene& ray_scene(const Model& model) const;
  const FlatScene& flat_scene(const Model& model) const;

  CameraBackend wanted_;
  Lazy<RayScene> ray_scene_, raster_scene_;
  Lazy<FlatScene> flat_scene_;
};

// Makes drawers for CompileOptions::make_drawer.
ViewDrawerMaker draw_by(CameraBackend wanted);

// The drawer of a Model. Throws Error if it was compiled without one.
const ViewScenes& scenes_of(const Model& model);

}  // namespace mvsim
