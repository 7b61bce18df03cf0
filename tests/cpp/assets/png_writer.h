// PNG files written byte by byte, so that a test says what stands in them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

namespace mvsim::test {

inline std::string big_endian(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

inline std::string png_chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(crc32(0, bytes, static_cast<uInt>(body.size()))));
}

enum PngColor { kPngGray = 0, kPngRgb = 2, kPngPalette = 3, kPngGrayAlpha = 4, kPngRgba = 6 };

// `rows`: raw rows, a filter byte (0) before each; `extra`: chunks between header and pixels.
inline std::string png(uint32_t width, uint32_t height, int depth, PngColor color, const std::string& rows,
                       const std::string& extra = "", bool interlaced = false) {
  std::string packed(compressBound(static_cast<uLong>(rows.size())), '\0');
  uLongf size = static_cast<uLongf>(packed.size());
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
           static_cast<uLong>(rows.size()));
  packed.resize(size);
  std::string header = big_endian(width) + big_endian(height);
  for (const int byte : {depth, static_cast<int>(color), 0, 0, interlaced ? 1 : 0})
    header += static_cast<char>(byte);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + extra + png_chunk("IDAT", packed) +
         png_chunk("IEND", "");
}

// A row: filter byte and samples of `bytes` bytes.
inline std::string png_row(std::initializer_list<int> samples, int bytes = 1) {
  std::string out(1, '\0');
  for (const int sample : samples) {
    if (bytes == 2) out += static_cast<char>(sample >> 8);
    out += static_cast<char>(sample);
  }
  return out;
}

}  // namespace mvsim::test
