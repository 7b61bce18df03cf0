// JPEG files of the tests, made with libjpeg.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// jpeglib.h needs size_t and FILE
#include <jpeglib.h>

namespace mvsim::test {

struct JpegImage {
  int width = 1, height = 1;
  int channels = 3;  // 1: grey, 3: RGB, 4: CMYK
  bool is_progressive = false;
  bool is_arithmetic = false;
};

// `pixels`: rows from the top, a byte a channel.
inline std::string jpeg(const JpegImage& image, std::vector<uint8_t> pixels) {
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &bytes, &size);
  c.image_width = static_cast<JDIMENSION>(image.width);
  c.image_height = static_cast<JDIMENSION>(image.height);
  c.input_components = image.channels;
  c.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : image.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 100, TRUE);
  if (image.is_progressive) jpeg_simple_progression(&c);
  c.arith_code = image.is_arithmetic ? TRUE : FALSE;
  jpeg_start_compress(&c, TRUE);
  for (int y = 0; y < image.height; ++y) {
    JSAMPROW row = pixels.data() + static_cast<size_t>(y) * image.width * image.channels;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  std::string out(bytes, bytes + size);
  jpeg_destroy_compress(&c);
  std::free(bytes);
  return out;
}

// All of one colour.
inline std::string jpeg(const JpegImage& image, const std::vector<uint8_t>& color, int /*pixel*/) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < image.width * image.height; ++i)
    pixels.insert(pixels.end(), color.begin(), color.end());
  return jpeg(image, std::move(pixels));
}

// The same file with other measures in its header (the frame's, FF C0 or FF C2).
inline std::string jpeg_that_says(std::string bytes, int width, int height) {
  for (size_t i = 0; i + 9 < bytes.size(); ++i) {
    const auto code = static_cast<uint8_t>(bytes[i + 1]);
    if (bytes[i] != '\xff' || (code != 0xc0 && code != 0xc2)) continue;
    const int values[] = {height >> 8, height, width >> 8, width};
    for (size_t k = 0; k < 4; ++k) bytes[i + 5 + k] = static_cast<char>(values[k]);
    break;
  }
  return bytes;
}

// A progressive file whose first scan comes so many times more.
inline std::string jpeg_with_scans(const std::string& bytes, int more) {
  const size_t scan = bytes.find("\xff\xda");
  size_t end = scan + 2;
  while (bytes[end] != '\xff' || bytes[end + 1] == '\0') ++end;  // the next marker
  std::string out = bytes.substr(0, end);
  for (int i = 0; i < more; ++i) out += bytes.substr(scan, end - scan);
  return out + bytes.substr(end);
}

}  // namespace mvsim::test
