// Colours of PNG and JPEG; damaged files, and small ones that stand for large images.
#include "assets/read_image.h"

#include <gtest/gtest.h>

#include <chrono>

#include "assets/jpeg_writer.h"
#include "assets/png_writer.h"

namespace mvsim::color_image_test {
namespace {

using namespace test;
using Bytes = std::vector<uint8_t>;

ColorImage read(const std::string& bytes, uint64_t memory = kDefaultMemoryLimit) {
  LoadGuard guard(memory);
  return read_color_image(bytes, "a.jpg", {}, guard);
}

std::string error_of(const std::string& bytes, uint64_t memory = kDefaultMemoryLimit) {
  try {
    read(bytes, memory);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Bytes gradient(const JpegImage& image) {
  Bytes out;
  for (int i = 0; i < image.width * image.height * image.channels; ++i)
    out.push_back(static_cast<uint8_t>(i * 7));
  return out;
}

TEST(ColorPng, EveryKindBecomesEightBitsOfFourChannels) {
  EXPECT_EQ(read(png(2, 1, 8, kPngRgb, png_row({1, 2, 3, 4, 5, 6}))).rgba,
            (Bytes{1, 2, 3, 255, 4, 5, 6, 255}));
  EXPECT_EQ(read(png(1, 1, 8, kPngRgba, png_row({1, 2, 3, 4}))).rgba, (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(read(png(1, 1, 8, kPngGrayAlpha, png_row({9, 4}))).rgba, (Bytes{9, 9, 9, 4}));
  EXPECT_EQ(read(png(2, 1, 8, kPngGray, png_row({0, 9}))).rgba, (Bytes{0, 0, 0, 255, 9, 9, 9, 255}));
  EXPECT_EQ(read(png(1, 1, 16, kPngRgb, png_row({256, 513, 65535}, 2))).rgba, (Bytes{1, 2, 255, 255}));
  EXPECT_EQ(read(png(2, 1, 1, kPngGray, std::string("\0\x40", 2))).rgba,
            (Bytes{0, 0, 0, 255, 255, 255, 255, 255}));
  const std::string palette = png_chunk("PLTE", std::string("\x03\x06\x09\xff\xfe\xfd", 6));
  EXPECT_EQ(read(png(2, 1, 8, kPngPalette, png_row({1, 0}), palette)).rgba,
            (Bytes{255, 254, 253, 255, 3, 6, 9, 255}));
  const std::string clear = png_chunk("tRNS", std::string("\x07", 1));
  EXPECT_EQ(read(png(1, 1, 8, kPngPalette, png_row({0}), palette + clear)).rgba, (Bytes{3, 6, 9, 7}));
  const std::string rows = png_row({10}) + png_row({20}) + png_row({30, 40});
  const ColorImage interlaced = read(png(2, 2, 8, kPngGray, rows, "", true));
  EXPECT_EQ(interlaced.rgba[4], 20);
  EXPECT_EQ(interlaced.rgba[8], 30);
}

TEST(ColorPng, LyingAndDamagedFilesAreRefused) {
  EXPECT_TRUE(has(error_of(png(60000, 60000, 8, kPngRgb, "")), "not a readable PNG image"));
  EXPECT_TRUE(has(error_of(png(16384, 16384, 8, kPngRgb, "")), "image of 16384 x 16384 pixels"));
  EXPECT_TRUE(has(error_of(png(4000, 4000, 8, kPngRgb, ""), 1000000), "expected at most memory_limit"));
  EXPECT_TRUE(has(error_of(png(2, 2, 8, kPngRgb, png_row({1, 2, 3, 4, 5, 6}))), "not a readable PNG image"));
  EXPECT_TRUE(has(error_of("GIF89a"), "unknown image format, expected PNG or JPEG"));
  const std::string good = png(2, 1, 8, kPngRgb, png_row({1, 2, 3, 4, 5, 6}));
  for (size_t size = 0; size + 12 < good.size(); ++size)
    EXPECT_NE(error_of(good.substr(0, size)), "no error");
}

TEST(Jpeg, GreyAndColoursBaselineAndProgressive) {
  for (const bool is_progressive : {false, true}) {
    const ColorImage red = read(jpeg({20, 9, 3, is_progressive}, Bytes{200, 30, 60}, 0));
    ASSERT_EQ(red.width, 20);
    ASSERT_EQ(red.height, 9);
    ASSERT_EQ(red.rgba.size(), 20U * 9 * 4);
    for (const size_t i : {size_t{0}, red.rgba.size() - 4}) {  // a level or two are lost in the colour space
      EXPECT_NEAR(red.rgba[i], 200, 3);
      EXPECT_NEAR(red.rgba[i + 1], 30, 3);
      EXPECT_NEAR(red.rgba[i + 2], 60, 3);
      EXPECT_EQ(red.rgba[i + 3], 255);
    }
    const ColorImage grey = read(jpeg({3, 2, 1, is_progressive}, Bytes{77}, 0));
    EXPECT_EQ(Bytes(grey.rgba.end() - 4, grey.rgba.end()), (Bytes{77, 77, 77, 255}));
  }
}

TEST(Jpeg, WhatItIsNotIsNamed) {
  EXPECT_TRUE(
      has(error_of(jpeg({8, 8, 4}, Bytes{1, 2, 3, 4}, 0)), "JPEG image of 4 channels, expected 1 or 3"));
  EXPECT_TRUE(has(error_of(jpeg({8, 8, 3, false, true}, Bytes{1, 2, 3}, 0)),
                  "JPEG image with arithmetic coding, expected Huffman coding"));
  EXPECT_TRUE(has(error_of("\xff\xd8\xff"), "a.jpg: not a readable JPEG image: "));
  EXPECT_TRUE(has(error_of("\xff\xd8\xff\xd9"), "not a readable JPEG image"));
}

// The last two bytes alone, the mark of the end, may be missing.
TEST(Jpeg, EveryTruncationIsAnError) {
  for (const bool is_progressive : {false, true}) {
    const JpegImage image{40, 24, 3, is_progressive};
    const std::string good = jpeg(image, gradient(image));
    ASSERT_EQ(error_of(good), "no error");
    for (size_t size = 3; size + 12 < good.size(); ++size)
      EXPECT_TRUE(has(error_of(good.substr(0, size)), "a.jpg: ")) << size << " of " << good.size();
  }
}

// A byte that is another one: an image of some size, or an error that names it.
TEST(Jpeg, DamageIsReadOrRefused) {
  for (const bool is_progressive : {false, true}) {
    const JpegImage image{17, 11, 3, is_progressive};
    const std::string good = jpeg(image, gradient(image));
    for (size_t at = 3; at < good.size(); ++at)
      for (const int change : {0x01, 0x80, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ change);
        try {
          const ColorImage read_image = read(bad, 100'000'000);
          EXPECT_EQ(read_image.rgba.size(), 4U * static_cast<size_t>(read_image.width) * read_image.height);
        } catch (const Error& e) {
          EXPECT_TRUE(has(e.what(), "a.jpg: ") || has(e.what(), "memory_limit")) << e.what();
        }
      }
  }
}

TEST(Jpeg, TheScansOfALargeImageAreLimited) {
  const JpegImage large{4096, 4096, 1, true};
  const std::string many = jpeg_with_scans(jpeg(large, Bytes{90}, 0), 60);
  EXPECT_TRUE(has(error_of(many, 2'000'000'000), "its scans have more than 400000000 pixels in all"));
}

TEST(Jpeg, BombsAreRefusedBeforeTheyCostMuch) {
  const auto began = std::chrono::steady_clock::now();
  for (const bool is_progressive : {false, true}) {
    const JpegImage image{16, 16, 3, is_progressive};
    const std::string small = jpeg(image, gradient(image));
    EXPECT_TRUE(has(error_of(jpeg_that_says(small, 60000, 60000)), "image of 60000 x 60000 pixels"));
    EXPECT_TRUE(has(error_of(jpeg_that_says(small, 65535, 65535)), "a.jpg: "));
    EXPECT_TRUE(has(error_of(jpeg_that_says(small, 16384, 16384)), "image of 16384 x 16384 pixels"));
    EXPECT_TRUE(has(error_of(jpeg_that_says(small, 0, 16)), "a.jpg: "));
    EXPECT_TRUE(
        has(error_of(jpeg_that_says(small, 4000, 4000), 10'000'000), "expected at most memory_limit"));
    EXPECT_TRUE(has(error_of(jpeg_that_says(small, 4000, 4000)), "a.jpg: ")) << "a few bytes for 16 Mpx";
  }
  const JpegImage image{64, 64, 3, true};
  const std::string scans = jpeg_with_scans(jpeg(image, gradient(image)), 5000);
  EXPECT_TRUE(has(error_of(scans), "it has more than 100 scans")) << error_of(scans);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5)) << "on a busy machine";
}

}  // namespace
}  // namespace mvsim::color_image_test
