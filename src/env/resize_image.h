// Images of sensors in other sizes. Pure functions.
#pragma once

#include <cstddef>

#include "sensor/sensor.h"

namespace mvsim {

// Rows and columns.
struct ImageSize {
  size_t rows = 0, columns = 0;
};

// An image of `spec` (two dimensions, of colours three) as one of another size. A colour is the mean of the
// area that its pixel covers; distances, intensities and labels, of which no mean makes sense, are those of
// the pixel in the middle of it.
void resize_image(const ReadingSpec& spec, const std::byte* pixels, ImageSize size, std::byte* out);

}  // namespace mvsim
