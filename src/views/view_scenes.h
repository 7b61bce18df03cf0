// The drawer of a Model: its scene made ready for rays, for the plane and for OpenGL, each when it is first
// needed. Any thread.
#pragma once

#include <memory>
#include <span>

#include "base/lazy.h"
#include "model/view_drawer.h"
#include "render/level/flat_scene.h"
#include "render/rays/ray_scene.h"
#include "render/rays/ray_view.h"
#include "scene/scene.h"

namespace mvsim {

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
