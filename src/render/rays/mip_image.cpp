#include "render/rays/mip_image.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace mvsim {
namespace {

int wrapped(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

}  // namespace

MipImage::MipImage(const ColorImage& image) {
  static_assert(std::endian::native == std::endian::little, "kernels read red from the lowest byte");
  int width = image.width, height = image.height;
  const auto count = [&] { return static_cast<size_t>(width) * static_cast<size_t>(height); };
  texels_.resize(count());
  std::memcpy(texels_.data(), image.rgba.data(), 4 * count());
  begins_.push_back(0);
  while (width > 1 || height > 1) {
    const auto from = static_cast<size_t>(begins_.back());
    const int wide = width, high = height;
    begins_.push_back(static_cast<int32_t>(texels_.size()));
    width = std::max(1, wide / 2), height = std::max(1, high / 2);
    texels_.reserve(texels_.size() + count());
    const auto texel = [&](int row, int column) {
      return texels_[from + static_cast<size_t>(std::min(row, high - 1)) * static_cast<size_t>(wide) +
                     static_cast<size_t>(std::min(column, wide - 1))];
    };
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) {
        uint32_t mean = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) {
          uint32_t sum = 0;
          for (const uint32_t t : {texel(2 * r, 2 * c), texel(2 * r, 2 * c + 1), texel(2 * r + 1, 2 * c),
                                   texel(2 * r + 1, 2 * c + 1)})
            sum += t >> shift & 255;
          mean |= (sum + 2) / 4 << shift;
        }
        texels_.push_back(mean);
      }
  }
  width = image.width, height = image.height;
  for (const int32_t begin : begins_) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(texels_.data() + begin);
    levels_.push_back({width, height, {bytes, 4 * count()}});
    width = std::max(1, width / 2), height = std::max(1, height / 2);
  }
}

int MipImage::size() const {
  return std::max(levels_.front().width, levels_.front().height);
}

std::array<float, 4> MipImage::sample(const Level& level, float u, float v) {
  const auto place = [](float at, int n) { return (at - std::floor(at)) * static_cast<float>(n) - 0.5F; };
  const float x = place(u, level.width), y = place(v, level.height);
  const float left = std::floor(x), top = std::floor(y);
  const float fx = x - left, fy = y - top;
  const int c0 = wrapped(static_cast<int>(left), level.width), c1 = wrapped(c0 + 1, level.width);
  const int r0 = wrapped(static_cast<int>(top), level.height), r1 = wrapped(r0 + 1, level.height);
  const auto texel = [&](int row, int column) {
    return level.rgba.data() +
           (static_cast<size_t>(row) * static_cast<size_t>(level.width) + static_cast<size_t>(column)) * 4;
  };
  const uint8_t *a = texel(r0, c0), *b = texel(r0, c1), *c = texel(r1, c0), *d = texel(r1, c1);
  std::array<float, 4> out{};
  for (size_t k = 0; k < 4; ++k) {
    const float above = static_cast<float>(a[k]) * (1 - fx) + static_cast<float>(b[k]) * fx;
    const float below = static_cast<float>(c[k]) * (1 - fx) + static_cast<float>(d[k]) * fx;
    out[k] = (above * (1 - fy) + below * fy) / 255;
  }
  return out;
}

std::array<float, 4> MipImage::at(float u, float v, float level) const {
  if (!std::isfinite(u) || !std::isfinite(v)) u = v = 0;
  const auto last = static_cast<float>(levels_.size() - 1);
  const float wanted = level > 0 ? std::min(level, last) : 0;  // NaN: the whole image
  const auto finer = static_cast<size_t>(wanted);
  std::array<float, 4> out = sample(levels_[finer], u, v);
  const float rest = wanted - static_cast<float>(finer);
  if (rest == 0) return out;
  const std::array<float, 4> coarser = sample(levels_[finer + 1], u, v);
  for (size_t k = 0; k < 4; ++k) out[k] += rest * (coarser[k] - out[k]);
  return out;
}

}  // namespace mvsim
