// Resizes images of sensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sensor/sensor.h"

namespace mvsim {

// The number of rows and columns.
struct ImageSize {
  size_t rows = 0, columns = 0;
};

// Resizes images of `spec` (two dimensions, colours three). A colour is the rounded mean of the area that the
// new pixel covers. Distances, intensities and labels have no meaningful mean, so they are taken from the
// pixel in the middle.
class ImageResizer {
 public:
  ImageResizer(const ReadingSpec& spec, ImageSize size);

  void resize(const std::byte* pixels, std::byte* out) const;

 private:
  // The old pixels under a new pixel along one side, [first, first + weights.size()), and their integer
  // weights. A weight counts parts of an old pixel, which has as many parts as the new image has pixels.
  struct Cover {
    size_t first = 0;
    std::vector<uint32_t> weights;
  };

  static std::vector<Cover> covers_of(size_t from, size_t to);
  void average(const uint8_t* pixels, uint8_t* out) const;
  void average_row(const Cover& row, const uint8_t* pixels, std::span<uint32_t> sums) const;
  void pick(const std::byte* pixels, std::byte* out) const;

  bool is_color_;
  size_t bytes_, rows_, columns_, channels_;  // bytes of a pixel; size of the given images
  ImageSize size_;
  std::vector<Cover> down_, across_;  // of colours
};

}  // namespace mvsim
