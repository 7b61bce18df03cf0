// The Scene of a Model for views: meshes, labels, frames, and the interface of what draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "assets/read_mesh.h"
#include "base/geometry.h"
#include "model/model.h"
#include "scene/scene.h"
#include "sensor/view.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Puts the meshes of visuals into a Scene under construction: each mesh, texture and material once.

class SceneMeshes {
 public:
  explicit SceneMeshes(Scene& scene) : scene_(scene) {}

  // Instances of all visuals whose meshes are there; whether there is one. Throws WorldFileError where they
  // become too many.
  bool add(std::span<const VisualSpec> visuals, uint32_t frame, const Frame3& T_frame_object, uint16_t label);

  // In Scene::textures; of none Material::kNoTexture.
  int texture_of(const std::shared_ptr<const ColorImage>& image);

 private:
  void add_parts(const VisualSpec& visual, uint32_t frame, const Frame3& T_frame_mesh, uint16_t label);
  uint32_t shape_of(const MeshPart& part);
  uint32_t material_of(const MeshPart& part, const VisualSpec& visual);

  Scene& scene_;
  // places in the lists of the scene
  std::map<const Mesh*, uint32_t> shapes_;
  std::map<const ColorImage*, int> textures_;
  std::map<std::tuple<const Mesh*, std::array<uint8_t, 4>, CullFaces>, uint32_t> materials_;
};

// Compiles the light, the background and the marker lines of a Scene.

// Runs once the bodies have their frames. Warns of a grid that is to follow a vehicle that there is not;
// throws WorldFileError at one of too many lines.
void add_view(const WorldSpec& spec, SceneMeshes& meshes, Model& model, Scene& scene);

// Labels of a world's things, by which label images tell them apart.

// Things in the order of the file, counted from 1; those beyond the range of a label share the last one.
class SceneLabels {
 public:
  explicit SceneLabels(const WorldSpec& spec);

  // Returns the label of the thing that was read as the `order`th.
  uint16_t of(int order) const;
  std::vector<std::string>& names() { return names_; }

 private:
  std::vector<int> orders_;
  std::vector<std::string> names_;
};

// Seam: draws what the sensors of a Model see. The Model owns one, so it lives as long as the Model does, and
// the room views/ implements it: neither a Model nor a Simulation knows how a picture is made. Any thread.

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
  // Draws the first image of a view sensor from a recipe (sim/sense.h): ReadingSpec::bytes().
  virtual void draw(const Model& model, size_t sensor, const double* recipe, std::byte* out) const = 0;
  // The backend of the cameras; kAuto where nothing has been drawn yet.
  virtual CameraBackend known_backend() const = 0;
};

// Makes the drawer of one Model.
using ViewDrawerMaker = std::function<std::unique_ptr<const ViewDrawer>()>;

// Returns the drawer of a Model. Throws Error if it was compiled without one (CompileOptions::make_drawer).
const ViewDrawer& drawer_of(const Model& model);

// The backend that snapshots name; kAuto of a Model without cameras, and where nothing has been drawn yet.
CameraBackend drawn_by(const Model& model);

}  // namespace mvsim
