// Colours of views of a level eye in the plane: light and hard shadows as in the views of rays.
#pragma once

#include <span>
#include <vector>

#include "raycast/level_rays.h"
#include "render/level/flat_scene.h"
#include "render/level/level_eye.h"
#include "render/rays/placed_body.h"
#include "render/shading.h"

namespace mvsim {

// A prism that was drawn, or that only casts a shadow. In a LevelPicture its top has the name `name`, its
// bottom name + 1, its sides name + 2 and so on.
struct FlatThing {
  uint32_t look = 0;
  uint8_t faces = kAllFaces;
  PrismRegion region;                         // world
  const PrismMap::Entry* standing = nullptr;  // the prism, if it is static
  const UprightPrism* other = nullptr;        // or the prism, if it moves or is wide
  size_t first = 0, count = 0;  // range of its outline in FlatThings::corners, in the eye's plane
  int32_t name = 0;
  ColumnRange columns[2]{};  // columns in which it was drawn
  int parts = 0;
};

// The prisms that an eye may see, and moving prisms that cast shadows.
struct FlatThings {
  std::vector<FlatThing> seen, casters;
  std::vector<Vec2> corners;
  int32_t names = 1;  // number of names, with the sky, which is 0

  std::span<const Vec2> outline(const FlatThing& t) const { return {corners.data() + t.first, t.count}; }
};

// Writes the view's kColor or kIntensity, and marks shaded pixels in the picture. `rest`: the bodies that
// only rays can draw, which cast shadows too.
void color_flat(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things,
                std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                LevelPicture& picture, std::byte* pixels);

// Marks pixels (kShaded) that prisms, moving or static, shade.
void shade_flat(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye, const FlatThings& things,
                LevelPicture& picture);

// The same for bodies that only rays can draw.
void shade_by_rest(const FlatScene& scene, const LevelRays& rays, const LevelEye& eye,
                   std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                   double lowest, LevelPicture& picture);

// Computes the place of a face's texture, equal to that of its triangles: for a side of the prism, or
// (negative) its top or bottom. `outline`: in the eye's plane; `low`: height of its foot above the eye;
// `pixel_angle`: angle from one pixel to the next.
FacePaint paint_of(const FlatLook& look, const MipImage& image, std::span<const Vec2> outline, int side,
                   double low, double pixel_angle);

}  // namespace mvsim
