#include "env/resize_image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace mvsim {
namespace {

// What a pixel covers of those along one side: [first, first + weights.size()), and how much of each.
struct Cover {
  size_t first = 0;
  std::vector<double> weights;  // their sum is 1
};

std::vector<Cover> covers_of(size_t from, size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Cover> covers(to);
  for (size_t i = 0; i < to; ++i) {
    const double low = static_cast<double>(i) * scale, high = low + scale;
    covers[i].first = static_cast<size_t>(low);
    for (size_t k = covers[i].first; k < from && static_cast<double>(k) < high; ++k) {
      const auto left = static_cast<double>(k);
      const double share = std::min(high, left + 1) - std::max(low, left);
      if (share > 1e-9 || covers[i].weights.empty()) covers[i].weights.push_back(share / scale);
    }
  }
  return covers;
}

void average(const ReadingSpec& spec, const uint8_t* pixels, ImageSize size, uint8_t* out) {
  const size_t columns = spec.shape[1], channels = spec.shape[2];
  const std::vector<Cover> down = covers_of(spec.shape[0], size.rows),
                           across = covers_of(columns, size.columns);
  for (const Cover& row : down)
    for (const Cover& column : across)
      for (size_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (size_t r = 0; r < row.weights.size(); ++r)
          for (size_t k = 0; k < column.weights.size(); ++k)
            sum += row.weights[r] * column.weights[k] *
                   pixels[((row.first + r) * columns + column.first + k) * channels + c];
        *out++ = static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0));
      }
}

// The pixel in whose area the middle of pixel i of `to` lies.
size_t middle_of(size_t i, size_t from, size_t to) {
  return (2 * i + 1) * from / (2 * to);
}

}  // namespace

void resize_image(const ReadingSpec& spec, const std::byte* pixels, ImageSize size, std::byte* out) {
  if (spec.shape.size() == 3)
    return average(spec, reinterpret_cast<const uint8_t*>(pixels), size, reinterpret_cast<uint8_t*>(out));
  const size_t bytes = size_of(spec.dtype), columns = spec.shape[1];
  for (size_t r = 0; r < size.rows; ++r) {
    const size_t row = middle_of(r, spec.shape[0], size.rows);
    for (size_t c = 0; c < size.columns; ++c, out += bytes)
      std::memcpy(out, pixels + (row * columns + middle_of(c, columns, size.columns)) * bytes, bytes);
  }
}

}  // namespace mvsim
