// Colours of images: PNG (libpng) and JPEG (libjpeg), taken from bytes. Sizes are checked and counted before
// memory is taken. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_guard.h"

namespace mvsim {

// 8 bits a channel, rows from the top, not premultiplied; no colour profile is applied.
struct ColorImage {
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;  // height * width * 4
};

// Throws Error with the reason, `path` naming the image; WorldFileError at `where` if memory does not
// suffice.
ColorImage read_color_image(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard);

// The same of one format (jpeg_image.cpp, png_image.cpp).
ColorImage read_jpeg(std::string_view bytes, const std::string& path, const SourceLocation& where,
                     LoadGuard& guard);
ColorImage read_color_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                          LoadGuard& guard);

}  // namespace mvsim
