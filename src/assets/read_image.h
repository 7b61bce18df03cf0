// Images from bytes: grey levels and colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

// Grey levels of images: PNG (libpng) and PGM (P2, P5), taken from bytes. Sizes are checked and counted
// before memory is taken. Thread-safe.
//
// Levels are those of the file: no gamma, no colour profile. Colour is averaged over its channels as
// map_server does. Alpha is not blended: transparent pixels are reported apart from the levels.

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

// Colours of images: PNG (libpng) and JPEG (libjpeg), taken from bytes. Sizes are checked and counted before
// memory is taken. Thread-safe.

// 8 bits a channel, rows from the top, not premultiplied; no colour profile is applied.
struct ColorImage {
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;  // height * width * 4
};

// Throws Error with the reason, `path` naming the image; WorldFileError at `where` if memory does not
// suffice.
ColorImage read_color_image(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard);

// The same of one format (png_image.cpp, jpeg_image.cpp).
ColorImage read_jpeg(std::string_view bytes, const std::string& path, const SourceLocation& where,
                     LoadGuard& guard);
ColorImage read_color_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                          LoadGuard& guard);

// Decoding of PNG with libpng.

bool is_png(std::string_view bytes);

// As read_gray_levels().
GrayLevels read_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                    LoadGuard& guard);

// Throws Error for an image of no pixels or of too many, and counts the memory of its pixels.
void admit_image(const std::string& path, long long width, long long height, size_t pixel_bytes,
                 const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
