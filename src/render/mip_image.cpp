#include "render/mip_image.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

int wrapped(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

}  // namespace

MipImage::MipImage(const ColorImage& image) {
  levels_.push_back({image.width, image.height, image.rgba});
  while (levels_.back().width > 1 || levels_.back().height > 1) {
    const Level& from = levels_.back();
    Level half{std::max(1, from.width / 2), std::max(1, from.height / 2), {}};
    half.rgba.reserve(static_cast<size_t>(half.width) * static_cast<size_t>(half.height) * 4);
    const auto texel = [&](int row, int column, int channel) {
      return from
          .rgba[(static_cast<size_t>(std::min(row, from.height - 1)) * static_cast<size_t>(from.width) +
                 static_cast<size_t>(std::min(column, from.width - 1))) *
                    4 +
                static_cast<size_t>(channel)];
    };
    for (int r = 0; r < half.height; ++r)
      for (int c = 0; c < half.width; ++c)
        for (int k = 0; k < 4; ++k) {
          const int sum = texel(2 * r, 2 * c, k) + texel(2 * r, 2 * c + 1, k) + texel(2 * r + 1, 2 * c, k) +
                          texel(2 * r + 1, 2 * c + 1, k);
          half.rgba.push_back(static_cast<uint8_t>((sum + 2) / 4));
        }
    levels_.push_back(std::move(half));
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
