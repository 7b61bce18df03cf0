// Decoding of PNG with libpng.
#pragma once

#include "assets/read_image.h"

namespace mvsim {

bool is_png(std::string_view bytes);

// As read_gray_levels().
GrayLevels read_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                    LoadGuard& guard);

// Throws Error for an image of no pixels or of too many, and counts the memory of its pixels.
void admit_image(const std::string& path, long long width, long long height, size_t pixel_bytes,
                 const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
