#include "task/image_resizer.h"

#include <algorithm>
#include <cstring>

namespace mvsim {
namespace {

// Returns the pixel whose area contains the middle of pixel i of `to`.
size_t middle_of(size_t i, size_t from, size_t to) {
  return (2 * i + 1) * from / (2 * to);
}

}  // namespace

ImageResizer::ImageResizer(const ReadingSpec& spec, ImageSize size)
    : is_color_(spec.shape.size() == 3),
      bytes_(size_of(spec.dtype)),
      rows_(spec.shape[0]),
      columns_(spec.shape[1]),
      channels_(is_color_ ? spec.shape[2] : 1),
      size_(size) {
  if (is_color_) down_ = covers_of(rows_, size.rows), across_ = covers_of(columns_, size.columns);
}

std::vector<ImageResizer::Cover> ImageResizer::covers_of(size_t from, size_t to) {
  std::vector<Cover> covers(to);
  for (size_t i = 0; i < to; ++i) {
    const size_t low = i * from, high = low + from;
    covers[i].first = low / to;
    for (size_t k = covers[i].first; k * to < high; ++k)
      covers[i].weights.push_back(
          static_cast<uint32_t>(std::min(high, (k + 1) * to) - std::max(low, k * to)));
  }
  return covers;
}

void ImageResizer::resize(const std::byte* pixels, std::byte* out) const {
  if (is_color_)
    average(reinterpret_cast<const uint8_t*>(pixels), reinterpret_cast<uint8_t*>(out));
  else
    pick(pixels, out);
}

// Computes, for each column and channel, the weighted sum over the rows that `row` covers.
void ImageResizer::average_row(const Cover& row, const uint8_t* pixels, std::span<uint32_t> sums) const {
  std::ranges::fill(sums, 0U);
  for (size_t r = 0; r < row.weights.size(); ++r) {
    const uint8_t* const from = pixels + (row.first + r) * sums.size();
    const uint32_t weight = row.weights[r];
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * from[i];
  }
}

void ImageResizer::average(const uint8_t* pixels, uint8_t* out) const {
  std::vector<uint32_t> sums(columns_ * channels_);
  // The rounded mean is (2 sum + total) / (2 total), rounded down. Adding one half to the dividend keeps the
  // result. The product with a rounded 1 / (2 total) is then too far from an integer for rounding errors to
  // change it.
  const uint64_t total = static_cast<uint64_t>(rows_) * columns_;
  const double scale = 1 / (2 * static_cast<double>(total));
  for (const Cover& row : down_) {
    average_row(row, pixels, sums);
    for (const Cover& column : across_)
      for (size_t c = 0; c < channels_; ++c) {
        const uint32_t* from = &sums[column.first * channels_ + c];
        uint64_t sum = 0;
        for (const uint64_t weight : column.weights) sum += weight * *from, from += channels_;
        *out++ = static_cast<uint8_t>((static_cast<double>(2 * sum + total) + 0.5) * scale);
      }
  }
}

void ImageResizer::pick(const std::byte* pixels, std::byte* out) const {
  for (size_t r = 0; r < size_.rows; ++r) {
    const size_t row = middle_of(r, rows_, size_.rows);
    for (size_t c = 0; c < size_.columns; ++c, out += bytes_)
      std::memcpy(out, pixels + (row * columns_ + middle_of(c, columns_, size_.columns)) * bytes_, bytes_);
  }
}

}  // namespace mvsim
