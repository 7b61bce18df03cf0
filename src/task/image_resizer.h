// Images of sensors in other sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sensor/sensor.h"

namespace mvsim {

// Rows and columns.
struct ImageSize {
  size_t rows = 0, columns = 0;
};

// Images of `spec` (two dimensions, of colours three) as ones of another size. A colour is
// the mean of the area that its pixel covers, rounded; distances, intensities and labels, of which no mean
// makes sense, are those of the pixel in the middle of it.
class ImageResizer {
 public:
  ImageResizer(const ReadingSpec& spec, ImageSize size);

  void resize(const std::byte* pixels, std::byte* out) const;

 private:
  // What a pixel covers of those along one side, [first, first + weights.size()), and how much of each: in
  // whole numbers, of a pixel so many parts as the other image has pixels.
  struct Cover {
    size_t first = 0;
    std::vector<uint32_t> weights;
  };

  static std::vector<Cover> covers_of(size_t from, size_t to);
  void average(const uint8_t* pixels, uint8_t* out) const;
  void average_row(const Cover& row, const uint8_t* pixels, std::span<uint32_t> sums) const;
  void pick(const std::byte* pixels, std::byte* out) const;

  bool is_color_;
  size_t bytes_, rows_, columns_, channels_;  // of a pixel; of the images that are given
  ImageSize size_;
  std::vector<Cover> down_, across_;  // of colours
};

}  // namespace mvsim
