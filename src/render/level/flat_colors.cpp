#include "render/level/flat_colors.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

// Computes the appearance of visible faces.
class FaceColors {
 public:
  FaceColors(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things)
      : scene_(scene), image_(image), eye_(eye), things_(things) {
    thing_of_.resize(static_cast<size_t>(things.names));
    for (size_t i = 0; i < things.seen.size(); ++i) {
      const FlatThing& t = things.seen[i];
      std::fill_n(thing_of_.begin() + t.name, t.count + 2, static_cast<uint32_t>(i));
    }
  }

  FaceColor of(int32_t name, bool shaded) const {
    const FlatThing& thing = things_.seen[thing_of_[static_cast<size_t>(name)]];
    const FlatLook& look = scene_.looks[thing.look];
    const int32_t face = name - thing.name;
    Vec3 normal{0, 0, face == 0 ? 1.0 : -1.0};
    if (face >= 2) {
      const std::span<const Vec2> outline = things_.outline(thing);
      const auto i = static_cast<size_t>(face - 2);
      const Vec2 along = outline[i + 1 == outline.size() ? 0 : i + 1] - outline[i];
      const Vec2 world = eye_.turn_to_world({along.y, -along.x});
      normal = normalized({world.x, world.y, 0});
    }
    const bool lit = !shaded && dot(normal, scene_.sun.to_sun) > 0;
    const Rgb light = light_on(normal, scene_.sun, lit);
    FaceColor color{.height_terms = face >= 2 ? look.side : look.level};
    for (size_t k = 0; k < 3; ++k) {
      const float root = std::sqrt(light[k]);
      for (float& term : color.height_terms[k]) term *= root;
    }
    const double low = thing.region.z_min - eye_.z();
    if (look.texture != Material::kNoTexture)
      color.paint = paint_of(look, *scene_.textures[static_cast<size_t>(look.texture)],
                             things_.outline(thing), face - 2, low, image_.pixel_angle);
    if (face < 2) return color;
    color.foot = static_cast<float>(low);
    color.per_height = static_cast<float>(1 / (thing.region.z_max - thing.region.z_min));
    return color;
  }

 private:
  const FlatScene& scene_;
  const FlatImage& image_;
  const LevelEye& eye_;
  const FlatThings& things_;
  std::vector<uint32_t> thing_of_;  // by name: index in things_.seen
};

}  // namespace

void color_flat(const FlatScene& scene, const FlatImage& image, const LevelEye& eye, const FlatThings& things,
                std::span<const PlacedBody> rest, const View& view, const Frame3& T_world_view,
                LevelPicture& picture, std::byte* pixels) {
  if (scene.has_shadows) {
    shade_flat(scene, image.rays, eye, things, picture);
    if (!rest.empty()) {
      double lowest = 0;
      for (const FlatThing& t : things.seen) lowest = std::min(lowest, t.region.z_min);
      shade_by_rest(scene, image.rays, eye, rest, view, T_world_view, lowest, picture);
    }
  }
  const FaceColors colors(scene, image, eye, things);
  Palette palette(things.names, [&](int32_t name, bool shaded) { return colors.of(name, shaded); });
  if (view.content == ViewContent::kColor)
    write_colors(image.rays, picture, palette, image.sky, reinterpret_cast<uint8_t*>(pixels));
  else
    write_lumas(image.rays, picture, palette, reinterpret_cast<float*>(pixels));
}

}  // namespace mvsim
