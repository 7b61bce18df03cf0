#include "task/observe_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace mvsim::image_resizer_test {
namespace {

std::vector<uint8_t> pixels_of(size_t count) {
  RandomStream random(3, 0, StreamPurpose::kSpawn, 0);
  std::vector<uint8_t> out(count);
  for (uint8_t& value : out) value = static_cast<uint8_t>(random.below(256));
  return out;
}

// How long the part of [i * from, (i + 1) * from) is that lies in [k * to, (k + 1) * to).
long overlap(long i, long k, long from, long to) {
  return std::max(0L, std::min((i + 1) * from, (k + 1) * to) - std::max(i * from, k * to));
}

TEST(ImageResizer, ColoursAreRoundedMeansOfAreas) {
  constexpr long kRows = 7, kColumns = 6;
  const ReadingSpec spec{.dtype = DType::kUint8, .shape = {kRows, kColumns, 3}, .unit = ""};
  const std::vector<uint8_t> pixels = pixels_of(kRows * kColumns * 3);
  for (long rows = 1; rows <= 15; ++rows)
    for (long columns = 1; columns <= 13; ++columns) {
      std::vector<uint8_t> out(static_cast<size_t>(rows * columns * 3));
      const ImageResizer resizer(spec, {static_cast<size_t>(rows), static_cast<size_t>(columns)});
      resizer.resize(reinterpret_cast<const std::byte*>(pixels.data()),
                     reinterpret_cast<std::byte*>(out.data()));
      for (long r = 0; r < rows; ++r)
        for (long c = 0; c < columns; ++c)
          for (long channel = 0; channel < 3; ++channel) {
            long sum = 0;
            for (long i = 0; i < kRows; ++i)
              for (long k = 0; k < kColumns; ++k)
                sum += overlap(r, i, kRows, rows) * overlap(c, k, kColumns, columns) *
                       pixels[static_cast<size_t>((i * kColumns + k) * 3 + channel)];
            const long twice = 2 * kRows * kColumns;  // a half is rounded up
            ASSERT_EQ(out[static_cast<size_t>((r * columns + c) * 3 + channel)],
                      (2 * sum + kRows * kColumns) / twice)
                << rows << " x " << columns;
          }
    }
}

TEST(ImageResizer, AllElseIsThePixelInTheMiddle) {
  const ReadingSpec spec{.dtype = DType::kFloat32, .shape = {2, 4}, .unit = ""};
  const std::vector<float> pixels{0, 1, 2, 3, 10, 11, 12, 13};
  std::vector<float> out(2);
  ImageResizer(spec, {1, 2})
      .resize(reinterpret_cast<const std::byte*>(pixels.data()), reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out, (std::vector<float>{11, 13}));
}

}  // namespace
}  // namespace mvsim::image_resizer_test
