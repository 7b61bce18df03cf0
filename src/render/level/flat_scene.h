// What of a Scene is upright prisms and level surfaces, made ready for eyes that look level; the rest is left
// to rays. Made once a Model, immutable, any thread. Metres.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "raycast/level_rays.h"
#include "raycast/prism_map.h"
#include "render/level/flat_casters.h"
#include "render/level/flat_kernel.h"
#include "render/rays/ray_scene.h"
#include "scene/scene.h"
#include "sensor/view.h"

namespace mvsim {

// How prisms of one instance look. Colours as FaceColor::height_terms, in full light.
struct FlatLook {
  using HeightTerms = std::array<std::array<float, 3>, 3>;

  uint16_t label = 0;
  HeightTerms side{}, level{};         // of a side; of tops and bottoms
  int texture = Material::kNoTexture;  // in FlatScene::textures
  Tile tile{};
  Polygon outline{};  // of what has one: where it is painted from, the corners of its prism
};

// Prisms on a frame that moves, in its coordinates.
struct FlatBody {
  uint32_t frame = kWorldFrame;
  std::vector<UprightPrism> prisms;
};

// Cells that are solid up to a height: within them an eye sees what only rays know.
struct SolidCells {
  const GridField* field = nullptr;
  Frame3 T_world_grid;
  double height = 0;
};

// What all views of an image that looks level have in common.
struct FlatImage {
  LevelRays rays;
  double pixel_angle = 0;  // from one pixel to the next, of pinholes at the middle
  SkyPicture sky;          // of colours alone
};

struct FlatScene {
  PrismMap standing;               // on the world
  StandingCasters casters;         // among these; none where nothing has shadows
  std::vector<UprightPrism> wide;  // floors, on the world
  std::vector<FlatBody> moving;
  std::vector<FlatLook> looks;                            // UprightPrism::look
  std::vector<std::shared_ptr<const MipImage>> textures;  // as the Scene counts them; those that looks have
  std::vector<SolidCells> solids;
  std::shared_ptr<const RayScene> rest;  // null: there is none
  // of each image of each sensor; none where it does not look level
  std::vector<std::vector<std::unique_ptr<const FlatImage>>> images;
  Sun sun;
  bool has_shadows = true;
  bool has_colors = true;  // else something is seen through: rays draw colours
};

// `level_frames`: of each frame whether it stands upright at all times.
std::shared_ptr<FlatScene> make_flat_scene(const Scene& scene, std::span<const uint8_t> level_frames);

// Of a view that looks level.
std::unique_ptr<const FlatImage> flat_image_of(const View& view, const Sky& sky);

}  // namespace mvsim
