// Computes the colours of faces that level rays see, for many pixels at once. Every instruction set gives the
// same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "raycast/level_rays.h"
#include "render/rays/mip_image.h"

namespace mvsim {

// The place of a face's texture: u and v at the eye, and their change per metre along x, y and z of the eye.
struct FacePaint {
  const MipImage* image = nullptr;
  float u = 0, v = 0;
  std::array<float, 3> along_u{}, along_v{};
  float texels_per_distance = 0;  // texels from one pixel to the next, at a distance of 1
};

// A face in one light. Its colour depends on the height of a point, from 0 at its foot to 1 at its head.
struct FaceColor {
  // For red, green, blue: 255 times the colour, as a polynomial of the height.
  std::array<std::array<float, 3>, 3> height_terms{};
  float per_height = 0, foot = 0;  // 1 / m, 0: a level face; m above the eye
  FacePaint paint{};               // no image: none

  bool is_even() const { return per_height == 0 && !paint.image; }
};

// Colours of the sky: as planes of bytes with the stride of the rays (red, green, blue), and as pixels
// without padding.
struct SkyPicture {
  std::array<std::vector<uint8_t>, 3> channel;
  std::vector<uint8_t> pixels;
};

// The colours of the names of a picture, in the sun and in the shade. They are computed at their first use.
class Palette {
 public:
  using Make = std::function<FaceColor(int32_t name, bool shaded)>;

  Palette(int32_t names, Make make) : make_(std::move(make)), place_(2 * static_cast<size_t>(names)) {
    colors_.reserve(64);
    even_.reserve(64);
  }
  // Adjacent pixels of one colour, for faces that have one.
  using EvenPixels = std::array<uint8_t, 3 * size_t{LevelRays::kPadding}>;

  const FaceColor& of(int32_t name) { return colors_[place_of(name)]; }
  // Null if the face has several colours.
  const EvenPixels* even_pixels(int32_t name) {
    const size_t place = place_of(name);
    return colors_[place].is_even() ? &even_[place] : nullptr;
  }

 private:
  size_t place_of(int32_t name) {
    const bool shaded = (name & kShaded) != 0;
    const int32_t plain = name & ~kShaded;
    uint32_t& place = place_[2 * static_cast<size_t>(plain) + (shaded ? 1 : 0)];
    if (place == 0) {
      colors_.push_back(make_(plain, shaded));
      even_.push_back(pixels_of(colors_.back()));
      place = static_cast<uint32_t>(colors_.size());
    }
    return place - 1U;
  }

  // Rounds like the kernels.
  static EvenPixels pixels_of(const FaceColor& color) {
    EvenPixels out{};
    if (!color.is_even()) return out;
    for (size_t i = 0; i < out.size(); ++i) {
      const float limited = std::min(std::max(color.height_terms[i % 3][0], 0.0F), 255.0F);
      const float rounded = limited + 0.5F;
      out[i] = static_cast<uint8_t>(rounded);
    }
    return out;
  }

  Make make_;
  std::vector<uint32_t> place_;  // index in colors_, from 1 on; 0: not computed yet
  std::vector<FaceColor> colors_;
  std::vector<EvenPixels> even_;  // in the order of colors_
};

// Writes red, green, blue of each pixel of the picture, without padding; the sky where there is no face.
void write_colors(const LevelRays& rays, const LevelPicture& picture, Palette& palette, const SkyPicture& sky,
                  uint8_t* out);
// Writes the luma of each pixel, 0 to 1; 0 where there is no face.
void write_lumas(const LevelRays& rays, const LevelPicture& picture, Palette& palette, float* out);

}  // namespace mvsim
