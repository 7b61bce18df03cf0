#include "assets/read_image.h"

#include <algorithm>
#include <cctype>

namespace mvsim {
namespace {

// Next decimal of a PNM header; comments run from '#' to the end of a line.
long long pnm_number(const std::string& path, std::string_view content, size_t& at) {
  while (at < content.size()) {
    if (content[at] == '#')
      while (at < content.size() && content[at] != '\n') ++at;
    else if (std::isspace(static_cast<unsigned char>(content[at])))
      ++at;
    else
      break;
  }
  long long value = 0;
  size_t digits = 0;
  for (; at < content.size() && std::isdigit(static_cast<unsigned char>(content[at])) && digits < 9;
       ++at, ++digits)
    value = value * 10 + (content[at] - '0');
  if (!digits)
    throw Error(path + ": not a readable PGM image: expected a number at byte " + std::to_string(at));
  return value;
}

GrayLevels read_pgm(const std::string& path, std::string_view content, const SourceLocation& where,
                    LoadGuard& guard) {
  const bool binary = content[1] == '5';
  size_t at = 2;
  const long long width = pnm_number(path, content, at);
  const long long height = pnm_number(path, content, at);
  const long long max = pnm_number(path, content, at);
  admit_image(path, width, height, sizeof(uint16_t), where, guard);
  if (max < 1 || max > 65535)
    throw Error(path + ": not a readable PGM image: maximum value " + std::to_string(max) +
                ", expected 1 to 65535");
  const size_t pixels = static_cast<size_t>(width * height);
  const size_t bytes = max > 255 ? 2 : 1;
  // text needs at least one digit and one blank a pixel but the last
  const size_t min = binary ? pixels * bytes : 2 * pixels - 1;
  if (binary) ++at;  // exactly one blank separates header and pixels
  if (at > content.size() || content.size() - at < min)
    throw Error(path + ": truncated PGM image: " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels announced, the file is too short for them");
  GrayLevels image{static_cast<int>(width), static_cast<int>(height), static_cast<int>(max), {}, {}};
  image.data.resize(pixels);
  const auto level = [&](long long value) {
    if (value > max)
      throw Error(path + ": not a readable PGM image: pixel " + std::to_string(value) +
                  " above the maximum " + std::to_string(max));
    return static_cast<uint16_t>(value);
  };
  for (uint16_t *row = image.data.data(), *end = row + pixels; row != end; row += width) {
    guard.poll();
    uint16_t* const row_end = row + width;
    if (!binary) {
      for (uint16_t* out = row; out != row_end; ++out) *out = level(pnm_number(path, content, at));
      continue;
    }
    const char* in = content.data() + at;
    at += static_cast<size_t>(width) * bytes;
    if (max == 255)  // no level is above it
      std::transform(in, in + width, row, [](char c) { return static_cast<uint8_t>(c); });
    else if (bytes == 1)
      for (uint16_t* out = row; out != row_end; ++out) *out = level(static_cast<uint8_t>(*in++));
    else
      for (uint16_t* out = row; out != row_end; ++out, in += 2)
        *out = level(static_cast<uint8_t>(in[0]) << 8 | static_cast<uint8_t>(in[1]));
  }
  return image;
}

}  // namespace

void admit_image(const std::string& path, long long width, long long height, size_t pixel_bytes,
                 const SourceLocation& where, LoadGuard& guard) {
  if (width < 1 || height < 1 || width > kMaxImageSide || height > kMaxImageSide ||
      width * height > kMaxImagePixels)
    throw Error(path + ": image of " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected 1 to " + std::to_string(kMaxImageSide) + " a side and at most " +
                std::to_string(kMaxImagePixels >> 20) + " Mi pixels");
  guard.take(static_cast<double>(width * height) * static_cast<double>(pixel_bytes), where, "the image");
}

GrayLevels read_gray_levels(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard) {
  if (is_png(bytes)) return read_png(bytes, path, where, guard);
  if (bytes.starts_with("P2") || bytes.starts_with("P5")) return read_pgm(path, bytes, where, guard);
  throw Error(path + ": unknown image format, expected PNG or PGM (P2, P5)");
}

int GrayLevels::byte_of(size_t level) const {
  const auto whole = static_cast<size_t>(white);
  return static_cast<int>((level * 255 + whole / 2) / whole);
}

ColorImage read_color_image(std::string_view bytes, const std::string& path, const SourceLocation& where,
                            LoadGuard& guard) {
  if (is_png(bytes)) return read_color_png(bytes, path, where, guard);
  if (bytes.starts_with("\xff\xd8\xff")) return read_jpeg(bytes, path, where, guard);
  throw Error(path + ": unknown image format, expected PNG or JPEG");
}

}  // namespace mvsim
