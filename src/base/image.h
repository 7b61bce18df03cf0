// An image of 8 bits a channel.
#pragma once

#include <cstdint>
#include <vector>

namespace mvsim {

struct Image {
  int width = 0, height = 0, channels = 1;  // row 0 is the top
  std::vector<uint8_t> data;                // height * width * channels

  uint8_t at(int row, int column, int channel = 0) const {
    return data[(static_cast<size_t>(row) * width + column) * channels + channel];
  }
};

}  // namespace mvsim
