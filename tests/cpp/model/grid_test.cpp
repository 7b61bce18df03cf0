// Cells of an image by the rules of map_server and by those of MVSim.
#include "model/compile.h"

#include <gtest/gtest.h>

namespace mvsim::grid_test {
namespace {

// Cells of one row of grey levels from the left: "." free, "#" occupied, "?" unknown.
std::string cells_of(OccupancyGridSpec spec, std::vector<uint16_t> levels,
                     std::vector<uint8_t> transparent = {}) {
  const int width = static_cast<int>(levels.size());
  spec.image = std::make_shared<const GrayLevels>(
      GrayLevels{width, 1, 255, std::move(levels), std::move(transparent)});
  LoadGuard guard;
  GridCache cache;
  const GridModel grid = cache.make(spec, guard);
  std::string out;
  for (int x = 0; x < width; ++x) out += ".#?"[static_cast<int>(grid.field.cell(x, 0))];
  return out;
}

OccupancyGridSpec ros(const std::string& mode, bool negate = false) {
  OccupancyGridSpec out;
  out.is_ros = true;
  out.mode = mode;
  out.negate = negate;
  return out;
}

TEST(GridCells, ThresholdsOfTheModesOfMapServer) {
  // occupied above 0.65 (grey below 89.25), free below 0.196 (grey above 205.02)
  const std::vector<uint16_t> levels{0, 89, 90, 127, 128, 205, 206, 255};
  EXPECT_EQ(cells_of(ros("trinary"), levels), "##????..");
  EXPECT_EQ(cells_of(ros("trinary", true), {0, 49, 50, 165, 166, 255}), "..??##");
  EXPECT_EQ(cells_of(ros("scale"), levels), "####....") << "graded cells by the nearer end";
  EXPECT_EQ(cells_of(ros("raw"), {0, 19, 20, 64, 65, 100, 101, 255}), "..??##??");
  EXPECT_EQ(cells_of(ros("raw", true), {0, 100}), ".#") << "levels as they are";
}

TEST(GridCells, WhatIsNotOpaqueIsUnknownAsInNav2) {
  const std::vector<uint16_t> levels{0, 0, 254, 254, 128, 128};
  const std::vector<uint8_t> holes{0, 1, 0, 1, 0, 1};
  EXPECT_EQ(cells_of(ros("trinary"), levels, holes), "#?.???");
  EXPECT_EQ(cells_of(ros("scale"), levels, holes), "#?.?.?");
  EXPECT_EQ(cells_of(ros("scale", true), levels, holes), ".?#?#?");
  EXPECT_EQ(cells_of(ros("raw"), {0, 0, 100, 100}, {0, 1, 0, 1}), "..##") << "levels alone count";
  EXPECT_EQ(cells_of({}, levels, holes), "##..??") << "an image without a yaml: as MVSim";
}

TEST(GridCells, RowsOfHolesAreTurnedWithTheImage) {
  OccupancyGridSpec spec = ros("trinary");
  spec.image = std::make_shared<const GrayLevels>(GrayLevels{1, 2, 255, {254, 0}, {1, 0}});
  LoadGuard guard;
  GridCache cache;
  const GridModel grid = cache.make(spec, guard);
  EXPECT_EQ(grid.field.cell(0, 1), Cell::kUnknown) << "row 0 of the image is the upper one";
  EXPECT_EQ(grid.field.cell(0, 0), Cell::kOccupied);
}

}  // namespace
}  // namespace mvsim::grid_test
