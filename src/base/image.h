// Images: PNG (libpng) and PGM/PPM (P2, P5) decoding to 8 bits, with the size judged before memory is taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mvsim {

struct Image {
  int width = 0, height = 0, channels = 1;  // row 0 is the top
  std::vector<uint8_t> data;                // height * width * channels

  uint8_t at(int row, int column, int channel = 0) const {
    return data[(static_cast<size_t>(row) * width + column) * channels + channel];
  }
};

inline constexpr int kMostImageSide = 16384;
inline constexpr long long kMostImagePixels = 64LL << 20;

// Grey level of an image file: colour is averaged over its channels as map_server does, alpha is dropped, 16
// bits are scaled to 8. Throws Error with the reason.
Image read_gray_image(const std::string& path);

}  // namespace mvsim
