// Levels of images are those of the file: no gamma, no blending, 16 bits kept.
#include "assets/read_image.h"

#include <gtest/gtest.h>

#include "assets/png_writer.h"
#include "peak_memory.h"

namespace mvsim::read_image_test {
namespace {

using namespace test;

GrayLevels read(const std::string& bytes, uint64_t memory = kDefaultMemoryLimit) {
  LoadGuard guard(memory);
  return read_gray_levels(bytes, "a.png", {}, guard);
}

std::string error_of(const std::string& bytes, uint64_t memory = kDefaultMemoryLimit) {
  try {
    read(bytes, memory);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

using Levels = std::vector<uint16_t>;

TEST(ReadImage, SixteenBitsAreKeptAndHaveNoGamma) {
  const std::string rows = png_row({0, 1, 32768, 65535}, 2);
  // gAMA 1/2.2, sRGB
  for (const std::string& extra :
       {std::string(), png_chunk("gAMA", big_endian(45455)), png_chunk("gAMA", big_endian(100000)),
        png_chunk("sRGB", std::string(1, 0))}) {
    const GrayLevels image = read(png(4, 1, 16, kPngGray, rows, extra));
    EXPECT_EQ(image.white, 65535);
    EXPECT_EQ(image.data, (Levels{0, 1, 32768, 65535}));
    EXPECT_EQ(image.byte_of(image.data[0]), 0);
    EXPECT_EQ(image.byte_of(image.data[2]), 128);
    EXPECT_EQ(image.byte_of(image.data[3]), 255);
  }
}

TEST(ReadImage, EightBitsOfEveryKind) {
  const std::string gamma = png_chunk("gAMA", big_endian(45455));
  EXPECT_EQ(read(png(3, 1, 8, kPngGray, png_row({0, 97, 255}), gamma)).data, (Levels{0, 97, 255}));
  EXPECT_EQ(read(png(2, 1, 8, kPngRgb, png_row({10, 20, 33, 255, 255, 254}), gamma)).data, (Levels{21, 254}));
  EXPECT_EQ(read(png(2, 1, 8, kPngGrayAlpha, png_row({97, 0, 98, 128}))).data, (Levels{97, 98}));
  EXPECT_EQ(read(png(1, 1, 8, kPngRgba, png_row({10, 20, 33, 0}))).data, (Levels{21}));
  EXPECT_EQ(read(png(1, 2, 16, kPngRgba, png_row({300, 600, 900, 0}, 2) + png_row({1, 1, 4, 9}, 2))).data,
            (Levels{600, 2}));
  EXPECT_EQ(read(png(1, 1, 16, kPngGrayAlpha, png_row({4660, 0}, 2))).data, (Levels{4660}));
}

TEST(ReadImage, FewerBitsAndPalettes) {
  EXPECT_EQ(read(png(8, 1, 1, kPngGray, std::string("\0\xb0", 2))).data,
            (Levels{255, 0, 255, 255, 0, 0, 0, 0}));
  EXPECT_EQ(read(png(2, 1, 4, kPngGray, std::string("\0\x1f", 2))).data, (Levels{17, 255}));
  const std::string palette = png_chunk("PLTE", std::string("\x03\x06\x09\xff\xff\xff", 6));
  const std::string clear = png_chunk("tRNS", std::string("\0\0", 2));
  for (const std::string& extra : {palette, palette + clear})
    EXPECT_EQ(read(png(2, 1, 8, kPngPalette, png_row({1, 0}), extra)).data, (Levels{255, 6}));
}

TEST(ReadImage, TellsWhichPixelsAreNotOpaque) {
  using Holes = std::vector<uint8_t>;
  const GrayLevels gray = read(png(3, 1, 8, kPngGrayAlpha, png_row({97, 0, 98, 254, 99, 255})));
  EXPECT_EQ(gray.data, (Levels{97, 98, 99})) << "not blended";
  EXPECT_EQ(gray.transparent, (Holes{1, 1, 0}));
  const GrayLevels rgba = read(png(2, 1, 8, kPngRgba, png_row({10, 20, 33, 0, 10, 20, 33, 255})));
  EXPECT_EQ(rgba.data, (Levels{21, 21}));
  EXPECT_EQ(rgba.transparent, (Holes{1, 0}));
  const std::string deep = png_row({300, 600, 900, 65535, 1, 1, 4, 65280, 1, 1, 4, 255}, 2);
  EXPECT_EQ(read(png(3, 1, 16, kPngRgba, deep)).transparent, (Holes{0, 1, 1}));
  EXPECT_EQ(read(png(2, 1, 16, kPngGrayAlpha, png_row({4660, 65534, 1, 65535}, 2))).transparent,
            (Holes{1, 0}));
  // colours that the file calls transparent: of a palette, a grey, a colour
  const std::string palette = png_chunk("PLTE", std::string("\x03\x06\x09\xff\xff\xff", 6));
  const std::string first_is_clear = png_chunk("tRNS", std::string(1, '\0'));
  const GrayLevels by_palette = read(png(2, 1, 8, kPngPalette, png_row({1, 0}), palette + first_is_clear));
  EXPECT_EQ(by_palette.data, (Levels{255, 6}));
  EXPECT_EQ(by_palette.transparent, (Holes{0, 1}));
  const GrayLevels bits =
      read(png(8, 1, 1, kPngGray, std::string("\0\xb0", 2), png_chunk("tRNS", std::string("\0\1", 2))));
  EXPECT_EQ(bits.transparent, (Holes{1, 0, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(read(png(2, 1, 16, kPngGray, png_row({513, 514}, 2), png_chunk("tRNS", std::string("\2\1", 2))))
                .transparent,
            (Holes{1, 0}));
  EXPECT_EQ(read(png(2, 1, 8, kPngRgb, png_row({1, 2, 3, 1, 2, 4}),
                     png_chunk("tRNS", std::string("\0\1\0\2\0\3", 6))))
                .transparent,
            (Holes{1, 0}));
  // images without transparent pixels
  EXPECT_TRUE(read(png(1, 1, 8, kPngGrayAlpha, png_row({97, 255}))).transparent.empty());
  EXPECT_TRUE(read(png(1, 1, 8, kPngGray, png_row({97}))).transparent.empty());
}

TEST(ReadImage, TransparencyIsCounted) {
  std::string rows;
  for (int i = 0; i < 64; ++i) rows += std::string(1 + 2 * 64, '\0');
  const std::string clear = png(64, 64, 8, kPngGrayAlpha, rows);
  EXPECT_NE(error_of(clear, 3 * 64 * 64 - 1).find("memory_limit"), std::string::npos);
  EXPECT_EQ(error_of(clear, 3 * 64 * 64 + 1024), "no error");
}

TEST(ReadImage, Interlaced) {
  // Adam7 of 2 x 2: pass 1 has (0, 0), pass 6 (1, 0), pass 7 row 1
  const std::string rows = png_row({10}) + png_row({20}) + png_row({30, 40});
  EXPECT_EQ(read(png(2, 2, 8, kPngGray, rows, "", true)).data, (Levels{10, 20, 30, 40}));
}

TEST(ReadImage, Pgm) {
  EXPECT_EQ(read("P2 # text\n3 1 100\n0 50 100").data, (Levels{0, 50, 100}));
  EXPECT_EQ(read("P2 3 1 100 0 50 100").byte_of(50), 128);
  EXPECT_EQ(read(std::string("P5 2 3 9\n\1\2\3\4\5\6", 15)).data, (Levels{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read("P2 2 2 9 1 2 3 4").data, (Levels{1, 2, 3, 4}));
  EXPECT_EQ(read(std::string("P5 1 2 65535\n\1\2\3\4", 17)).data, (Levels{0x102, 0x304}));
  EXPECT_EQ(read(std::string("P5 2 1 65535\n\x12\x34\xff\xff", 17)).data, (Levels{0x1234, 65535}));
}

TEST(ReadImage, SaysWhatIsWrong) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string good = png(4, 1, 16, kPngGray, png_row({0, 1, 32768, 65535}, 2));
  has(error_of(good.substr(0, 60)), "a.png: not a readable PNG image: it ends too early");
  has(error_of(png(2, 2, 8, kPngGray, png_row({1, 2}))), "not a readable PNG image");
  std::string flipped = good;
  flipped[45] = static_cast<char>(flipped[45] ^ 1);
  has(error_of(flipped), "not a readable PNG image");
  has(error_of(png(60000, 60000, 8, kPngGray, "")), "not a readable PNG image");
  has(error_of(png(16384, 16384, 8, kPngGray, "")), "image of 16384 x 16384 pixels");
  has(error_of(png(4000, 4000, 8, kPngGray, ""), 1000000), "expected at most memory_limit, 0.001 GB");
  has(error_of("P5 16000 4000 255\n"), "truncated");
  has(error_of("P2 2 2 9 1 2 3 10"), "pixel 10 above the maximum 9");
  has(error_of(std::string("P5 2 2 9\n\1\2\3\n", 13)), "pixel 10 above the maximum 9");
  has(error_of("GIF89a"), "unknown image format");
}

// Texts, profiles and palettes for printers are passed over: a megabyte that unpacks to a gigabyte costs
// nothing.
TEST(ReadImage, MetadataIsNeitherUnpackedNorKept) {
  std::string packed(compressBound(7'000'000), '\0');
  uLongf size = packed.size();
  const std::string zeros(7'000'000, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()),
           zeros.size());
  packed.resize(size);
  const std::string key("a\0", 2);
  std::string extra = png_chunk("iCCP", key + '\0' + packed);
  for (int i = 0; i < 100; ++i) {
    extra += png_chunk("zTXt", key + '\0' + packed);
    extra += png_chunk("iTXt", key + std::string("\1\0\0\0", 4) + packed);
    extra += png_chunk("sPLT", "p" + std::to_string(i) + std::string("\0\10", 2) + std::string(6000, 'x'));
    extra += png_chunk("tEXt", key + std::string(6000, 'x'));
    extra += png_chunk("abCd", std::string(6000, 'x'));
  }
  extra += png_chunk("eXIf", "II*\0" + std::string(9'000'000, 'x'));  // more than libpng takes by itself
  const std::string image = png(2, 1, 8, kPngGray, png_row({1, 2}), extra);
  const PeakMemory peak;
  if (!peak.reset()) GTEST_SKIP() << "this machine does not tell a peak of memory";
  EXPECT_EQ(read(image).data, (Levels{1, 2}));
  EXPECT_LT(peak.grown_mb(), 20);
}

TEST(ReadImage, EveryTruncationIsAnError) {
  const std::string rows = png_row({1, 2}, 2) + png_row({3, 4}, 2);
  const std::string good = png(2, 2, 16, kPngGray, rows, "", false);
  for (size_t size = 0; size + 12 < good.size(); ++size)
    EXPECT_NE(error_of(good.substr(0, size)), "no error");
}

}  // namespace
}  // namespace mvsim::read_image_test
