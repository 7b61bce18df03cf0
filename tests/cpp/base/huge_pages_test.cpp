#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace mvsim::huge_pages_test {
namespace {

TEST(HugePages, TablesOfEverySizeAreAlignedAndTheirOwn) {
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  for (const size_t lines : {1u, 100u, 40000u, 100001u}) {
    std::vector<Line, HugePageAllocator<Line>> one(lines, Line{{1}}), other(lines, Line{{2}});
    const size_t alignment = lines * sizeof(Line) >= size_t{2} << 20 ? size_t{2} << 20 : sizeof(Line);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(one.data()) % alignment, 0);
    EXPECT_EQ(one.front().bytes[0] + one.back().bytes[0], 2);
    EXPECT_EQ(other.front().bytes[0] + other.back().bytes[0], 4);
  }
}

TEST(HugePages, WhatNoMachineHasIsRefused) {
  HugePageAllocator<double> allocator;
  EXPECT_THROW((void)allocator.allocate(~size_t{0} / 4), std::bad_alloc);
}

}  // namespace
}  // namespace mvsim::huge_pages_test
