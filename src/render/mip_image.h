// A texture in all its sizes, each half the one before, sampled at a level of detail that the caller knows.
// Plain arithmetic: the same colours on every machine.
#pragma once

#include <array>
#include <vector>

#include "assets/color_image.h"

namespace mvsim {

class MipImage {
 public:
  explicit MipImage(const ColorImage& image);

  // Red, green, blue, alpha in [0, 1] at (u, v), which repeat; `level` 0 is the whole image, 1 its half...
  // Linear between texels and between levels.
  std::array<float, 4> at(float u, float v, float level) const;

  int size() const;  // texels of the longer side

  struct Level {
    int width = 0, height = 0;
    std::vector<uint8_t> rgba;
  };
  const std::vector<Level>& levels() const { return levels_; }

 private:
  static std::array<float, 4> sample(const Level& level, float u, float v);

  std::vector<Level> levels_;
};

}  // namespace mvsim
