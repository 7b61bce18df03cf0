// The upright prisms and level surfaces of a Scene, prepared for eyes that look level. Rays draw the rest.
// Made once for a Model, immutable, any thread. Metres.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "raycast/level_rays.h"
#include "raycast/prism_map.h"
#include "render/level/flat_casters.h"
#include "render/level/flat_kernel.h"
#include "render/rays/placed_body.h"
#include "render/rays/ray_scene.h"
#include "scene/scene.h"
#include "sensor/view.h"

namespace mvsim {

// The appearance of the prisms of an instance, in full light. Colours are FaceColor::height_terms.
struct FlatLook {
  using HeightTerms = std::array<std::array<float, 3>, 3>;

  uint16_t label = 0;
  HeightTerms side{}, level{};         // for sides; for tops and bottoms
  int texture = Material::kNoTexture;  // index in FlatScene::textures
  Tile tile{};
  Polygon outline{};  // with a texture: corners of the prism, from which its place is computed
};

// Prisms on a moving frame, in its coordinates.
struct FlatBody {
  uint32_t frame = kWorldFrame;
  std::vector<UprightPrism> prisms;
};

// Cells that are solid up to a height. For an eye within them only rays draw correctly.
struct SolidCells {
  const GridField* field = nullptr;
  Frame3 T_world_grid;
  double height = 0;
};

// Common data of all views of an image that looks level.
struct FlatImage {
  LevelRays rays;
  double pixel_angle = 0;  // angle from one pixel to the next, for pinholes in the middle
  SkyPicture sky;          // only for colours
};

struct FlatScene {
  PrismMap standing;               // on the world frame
  StandingCasters casters;         // among `standing`; empty without shadows
  std::vector<UprightPrism> wide;  // floors, on the world frame
  std::vector<FlatBody> moving;
  std::vector<FlatLook> looks;                            // UprightPrism::look
  std::vector<std::shared_ptr<const MipImage>> textures;  // by index in the Scene; null if no look has it
  std::vector<SolidCells> solids;
  std::shared_ptr<const RayScene> rest;  // null: nothing
  // by sensor and image; null if it does not look level
  std::vector<std::vector<std::unique_ptr<const FlatImage>>> images;
  Sun sun;
  bool has_shadows = true;
  bool has_colors = true;  // false: rays draw colours, for example because of transparency
};

// Makes the scene for level views. `level_frames` says of each frame whether it is upright at all times.
std::shared_ptr<FlatScene> make_flat_scene(const Scene& scene, std::span<const uint8_t> level_frames);

// Makes the common data of a view that looks level.
std::unique_ptr<const FlatImage> flat_image_of(const View& view, const Sky& sky);

// Views of eyes that look level, drawn column by column from the plane. They equal the views of
// render/rays/ray_view.h of the same scene, except for pixels at edges, and are many times faster. Any
// thread; a view does not depend on others.

struct FlatPicture {
  const View* view = nullptr;
  const FlatImage* image = nullptr;  // data of that view
  std::byte* pixels = nullptr;
  bool is_drawn = false;
};

// Draws pictures along the same rays (have_same_rays), each as if it were alone. `all`: returns the same
// scene for rays, which draw the colours of bodies that are not flat. A picture is left undrawn, and nothing
// is written, if its colours are not flat, if the eye leans, or if the eye is within the walls of a map.
void draw_flat(const FlatScene& scene, const std::function<const RayScene&()>& all,
               std::span<const ScenePose> poses, const ViewPoint& from, std::span<FlatPicture> pictures);

}  // namespace mvsim
