// Seam: draws what the sensors of a Model see. The Model owns one, so it lives as long as the Model does, and
// the room views/ implements it: neither a Model nor a Simulation knows how a picture is made. Any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "base/geometry.h"
#include "sensor/camera_backend.h"

namespace mvsim {

struct Model;
struct ScenePose;
struct View;

class ViewDrawer {
 public:
  virtual ~ViewDrawer() = default;
  // Casts the view of a RaySensor by rays: m along each ray, 0 where nothing is seen. `mount_error`: by how
  // much the sensor sits beside its mount; `poses`: of Model::recipe_frames.
  virtual void cast(const Model& model, size_t sensor, const View& view, const Pose2& mount_error,
                    std::span<const ScenePose> poses, float* distances) const = 0;
  // Draws the first image of a view sensor from a recipe (sim/view_recipe.h): ReadingSpec::bytes().
  virtual void draw(const Model& model, size_t sensor, const double* recipe, std::byte* out) const = 0;
  // The backend of the cameras; kAuto where nothing has been drawn yet.
  virtual CameraBackend known_backend() const = 0;
};

// Makes the drawer of one Model.
using ViewDrawerMaker = std::function<std::unique_ptr<const ViewDrawer>()>;

// Throws Error if the Model was compiled without one (CompileOptions::make_drawer).
const ViewDrawer& drawer_of(const Model& model);

// The backend that snapshots name; kAuto of a Model without cameras, and where nothing has been drawn yet.
CameraBackend drawn_by(const Model& model);

}  // namespace mvsim
