// Colours of what an eye that looks level sees in the plane: light and hard shadows as plain rays have them.
#pragma once

#include <span>
#include <vector>

#include "raycast/level_shade.h"
#include "render/level/flat_scene.h"
#include "render/level/level_eye.h"
#include "render/rays/placed_body.h"
#include "render/shading.h"

namespace mvsim {

// A prism that was drawn, or that only casts a shadow. In a LevelPicture its top is called `name`, its bottom
// name + 1, its sides name + 2, ...
struct FlatThing {
  uint32_t look = 0;
  uint8_t faces = kAllFaces;
  PrismRegion region;                         // world
  const PrismMap::Entry* standing = nullptr;  // which prism it is, of those that stand
  const UprightPrism* other = nullptr;        // or of the others
  size_t first = 0, count = 0;                // of its outline, in the eye's plane
  int32_t name = 0;
  ColumnRange columns[2]{};  // in which it was drawn
  int parts = 0;
};

// All that an eye may see, and what moves and casts a shadow.
struct FlatThings {
  std::vector<FlatThing> seen, casters;
  std::vector<Vec2> corners;
  int32_t names = 1;  // so many with the sky, which is 0

  std::span<const Vec2> outline(const FlatThing& t) const { return {corners.data() + t.first, t.count}; }
};

// Writes the view's kColor or kIntensity; marks in the picture what is shaded. `rest`: the bodies that only
// rays know, which cast shadows too.
void color_flat(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things,
                std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                LevelPicture& picture, std::byte* pixels);

}  // namespace mvsim
