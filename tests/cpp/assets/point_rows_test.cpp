// Rows of numbers as point clouds and elevation models come.
#include "assets/data_files.h"

#include <gtest/gtest.h>

namespace mvsim::point_rows_test {
namespace {

std::vector<double> read(const std::string& text) {
  struct Held final : PackedBytes {
    explicit Held(std::string held) : bytes(std::move(held)) {}
    std::string unpack() const override { return bytes; }
    std::string bytes;
  };
  LoadGuard guard;
  const OpenFile file(std::make_shared<const Held>(text), "a.txt", text.size());
  return read_point_rows(file, 3, 10, {}, guard);
}

TEST(PointRows, SeparatorsAndAByteOrderMark) {
  const std::vector<double> expected{1, 2, 3, -4, 5, 6};
  for (const char* text : {"1 2 3\n-4 5 6\n", "1,2,3\r\n-4, 5, 6\r\n", "# x;y;z\n1;2;3;\n-4;5;6;",
                           "\xef\xbb\xbf# a cloud\n1\t2\t3\n-4 +5 6"})
    EXPECT_EQ(read(text), expected) << text;
  EXPECT_THROW(read("1 2\n"), Error);
  EXPECT_THROW(read("1 2 x\n"), Error);
}

}  // namespace
}  // namespace mvsim::point_rows_test
