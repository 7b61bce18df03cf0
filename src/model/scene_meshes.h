// Puts the meshes of visuals into a Scene under construction: each mesh, texture and material once.
#pragma once

#include <map>
#include <span>
#include <tuple>

#include "assets/read_mesh.h"
#include "scene/scene.h"
#include "worldfile/world_spec.h"

namespace mvsim {

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

}  // namespace mvsim
