// A texture in all sizes (mip levels), each half the one before. The caller gives the level of detail. Plain
// arithmetic, so the colours are the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assets/read_image.h"

namespace mvsim {

class MipImage {
 public:
  explicit MipImage(const ColorImage& image);
  MipImage(MipImage&&) noexcept = default;  // levels point to the texels
  MipImage& operator=(MipImage&&) noexcept = default;
  MipImage(const MipImage&) = delete;
  MipImage& operator=(const MipImage&) = delete;
  ~MipImage() = default;

  // Returns red, green, blue, alpha in [0, 1] at (u, v), which repeat. `level` 0 is the full size, 1 half of
  // it, and so on. Linear between texels and between levels.
  std::array<float, 4> at(float u, float v, float level) const;

  int size() const;  // texels of the longer side

  struct Level {
    int width = 0, height = 0;
    std::span<const uint8_t> rgba;
  };
  const std::vector<Level>& levels() const { return levels_; }

  // For kernels: all levels one after another, with the bytes of a texel in the order of memory, and the
  // begin of each level. Level l is max(1, width >> l) wide; its height is computed likewise.
  const std::vector<uint32_t>& texels() const { return texels_; }
  const std::vector<int32_t>& level_begins() const { return begins_; }

 private:
  static std::array<float, 4> sample(const Level& level, float u, float v);

  std::vector<uint32_t> texels_;
  std::vector<int32_t> begins_;
  std::vector<Level> levels_;
};

}  // namespace mvsim
