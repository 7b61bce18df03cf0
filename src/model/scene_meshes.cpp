#include "model/scene_meshes.h"

#include "model/mesh_outline.h"

namespace mvsim {

static constexpr size_t kMaxInstances = 1'000'000;

bool SceneMeshes::add(std::span<const VisualSpec> visuals, uint32_t frame, const Frame3& T_frame_object,
                      uint16_t label) {
  bool any = false;
  for (const VisualSpec& visual : visuals) {
    if (!visual.mesh) continue;
    any = true;
    add_parts(visual, frame, compose(T_frame_object, visual_frame(visual)), label);
  }
  return any;
}

void SceneMeshes::add_parts(const VisualSpec& visual, uint32_t frame, const Frame3& T_frame_mesh,
                            uint16_t label) {
  if (scene_.instances.size() + visual.mesh->parts.size() > kMaxInstances)
    throw WorldFileError(visual.where, "<visual>: the meshes of the world have more than " +
                                           std::to_string(kMaxInstances) +
                                           " parts (one a material, counted each time that it is shown)");
  for (const MeshPart& part : visual.mesh->parts)
    scene_.instances.push_back({shape_of(part), material_of(part, visual), frame, T_frame_mesh, label});
}

uint32_t SceneMeshes::shape_of(const MeshPart& part) {
  const auto [known, is_new] = shapes_.emplace(part.mesh.get(), static_cast<uint32_t>(scene_.shapes.size()));
  if (is_new) scene_.shapes.emplace_back(part.mesh);
  return known->second;
}

uint32_t SceneMeshes::material_of(const MeshPart& part, const VisualSpec& visual) {
  const Color& c = visual.color;
  const std::tuple key{part.mesh.get(), std::array{c.r, c.g, c.b, c.a}, visual.cull};
  const auto [known, is_new] = materials_.emplace(key, static_cast<uint32_t>(scene_.materials.size()));
  if (is_new)
    scene_.materials.push_back(
        {.color = c == Color{} ? part.color : c, .texture = texture_of(part.texture), .cull = visual.cull});
  return known->second;
}

int SceneMeshes::texture_of(const std::shared_ptr<const ColorImage>& image) {
  if (!image) return Material::kNoTexture;
  const auto [known, is_new] = textures_.emplace(image.get(), static_cast<int>(scene_.textures.size()));
  if (is_new) scene_.textures.push_back(image);
  return known->second;
}

}  // namespace mvsim
