#include "base/image.h"

#include <png.h>

#include <cctype>
#include <cstring>

#include "base/deep_image.h"
#include "base/error.h"
#include "base/file.h"

namespace mvsim {
namespace {

void check_size(const std::string& path, long long width, long long height) {
  if (width < 1 || height < 1 || width > kMostImageSide || height > kMostImageSide ||
      width * height > kMostImagePixels)
    throw Error(path + ": image of " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected 1 to " + std::to_string(kMostImageSide) + " a side and at most " +
                std::to_string(kMostImagePixels >> 20) + " Mi pixels");
}

Image read_png(const std::string& path, const std::string& content) {
  png_image png;
  std::memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  // the header alone: no pixel memory yet
  if (!png_image_begin_read_from_memory(&png, content.data(), content.size()))
    throw Error(path + ": not a readable PNG image: " + png.message);
  try {
    check_size(path, png.width, png.height);
    const bool has_color = png.format & PNG_FORMAT_FLAG_COLOR;
    png.format = has_color ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;  // with alpha: nothing is blended
    const size_t step = has_color ? 4 : 2;
    Image image{static_cast<int>(png.width), static_cast<int>(png.height), 1, {}};
    const size_t pixels = static_cast<size_t>(png.width) * png.height;
    std::vector<uint8_t> raw(pixels * step);
    if (!png_image_finish_read(&png, nullptr, raw.data(), 0, nullptr))
      throw Error(path + ": not a readable PNG image: " + png.message);
    image.data.resize(pixels);
    for (size_t i = 0; i < pixels; ++i) {
      const uint8_t* p = raw.data() + i * step;
      image.data[i] = has_color ? static_cast<uint8_t>((p[0] + p[1] + p[2]) / 3) : p[0];
    }
    png_image_free(&png);
    return image;
  } catch (...) {
    png_image_free(&png);
    throw;
  }
}

// Next decimal of a PNM header; comments run from '#' to the end of a line.
long long pnm_number(const std::string& path, const std::string& content, size_t& at) {
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

struct GrayLevels {
  int width, height;
  long long most;  // the level of white
  std::vector<uint16_t> data;
};

GrayLevels read_pgm(const std::string& path, const std::string& content) {
  const bool binary = content[1] == '5';
  size_t at = 2;
  const long long width = pnm_number(path, content, at);
  const long long height = pnm_number(path, content, at);
  const long long most = pnm_number(path, content, at);
  check_size(path, width, height);
  if (most < 1 || most > 65535)
    throw Error(path + ": not a readable PGM image: maximum value " + std::to_string(most) +
                ", expected 1 to 65535");
  const size_t pixels = static_cast<size_t>(width * height);
  const size_t bytes = most > 255 ? 2 : 1;
  // text needs at least one digit and one blank a pixel but the last
  const size_t least = binary ? pixels * bytes : 2 * pixels - 1;
  if (binary) ++at;  // exactly one blank separates header and pixels
  if (at > content.size() || content.size() - at < least)
    throw Error(path + ": truncated PGM image: " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels announced, the file is too short for them");
  GrayLevels image{static_cast<int>(width), static_cast<int>(height), most, {}};
  image.data.resize(pixels);
  for (size_t i = 0; i < pixels; ++i) {
    long long value;
    if (!binary) {
      value = pnm_number(path, content, at);
    } else if (bytes == 1) {
      value = static_cast<uint8_t>(content[at++]);
    } else {
      value = static_cast<uint8_t>(content[at]) << 8 | static_cast<uint8_t>(content[at + 1]);
      at += 2;
    }
    if (value > most)
      throw Error(path + ": not a readable PGM image: pixel " + std::to_string(value) +
                  " above the maximum " + std::to_string(most));
    image.data[i] = static_cast<uint16_t>(value);
  }
  return image;
}

// Levels from 0 to `white`.
template <typename T>
std::vector<T> scaled(const std::vector<uint16_t>& levels, long long most, long long white) {
  std::vector<T> out(levels.size());
  for (size_t i = 0; i < levels.size(); ++i)
    out[i] = static_cast<T>(most == white ? levels[i] : (levels[i] * white + most / 2) / most);
  return out;
}

GrayLevels read_levels(const std::string& path) {
  const std::string content = read_file(path, size_t{256} << 20);
  static constexpr char kPngMagic[] = "\x89PNG\r\n\x1a\n";
  if (content.size() >= 8 && std::memcmp(content.data(), kPngMagic, 8) == 0) {
    const Image png = read_png(path, content);
    return {png.width, png.height, 255, {png.data.begin(), png.data.end()}};
  }
  if (content.size() >= 3 && content[0] == 'P' && (content[1] == '2' || content[1] == '5'))
    return read_pgm(path, content);
  throw Error(path + ": unknown image format, expected PNG or PGM (P2, P5)");
}

}  // namespace

Image read_gray_image(const std::string& path) {
  const GrayLevels levels = read_levels(path);
  return {levels.width, levels.height, 1, scaled<uint8_t>(levels.data, levels.most, 255)};
}

DeepImage read_deep_gray_image(const std::string& path) {
  const GrayLevels levels = read_levels(path);
  return {levels.width, levels.height, scaled<uint16_t>(levels.data, levels.most, 65535)};
}

}  // namespace mvsim
