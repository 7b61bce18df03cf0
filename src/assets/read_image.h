// Grey levels of images: PNG (libpng) and PGM (P2, P5), taken from bytes. Sizes are checked and counted
// before memory is taken. Thread-safe.
//
// Levels are those of the file: no gamma, no colour profile. Colour is averaged over its channels as
// map_server does. Alpha is not blended: transparent pixels are reported apart from the levels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

inline constexpr int kMaxImageSide = 16384;
inline constexpr long long kMaxImagePixels = 64LL << 20;

struct GrayLevels {
  int width = 0, height = 0;
  int white = 255;                   // the largest level, 1 to 65535
  std::vector<uint16_t> data;        // row 0 is the top
  std::vector<uint8_t> transparent;  // as `data`, 1 where a pixel is not wholly opaque; empty: all are

  int byte_of(size_t level) const;  // on a scale to 255, rounded to the nearest
};

// Throws Error with the reason, `path` naming the image; WorldFileError at `where` if memory does not
// suffice.
GrayLevels read_gray_levels(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard);

}  // namespace mvsim
