// The field's codes and distances against exhaustive search on random grids.
#include "raycast/grid_field.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "raycast/scenes.h"

namespace mvsim::grid_field_test {
namespace {

using test::Dice;

struct Grid {
  int width, height;
  std::vector<uint8_t> cells;
  GridField field(double resolution) const { return GridField(cells, width, height, resolution); }
  int at(int x, int y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 2 : cells[static_cast<size_t>(y) * width + x];
  }
};

Grid random_grid(Dice& dice, int largest, int one_in) {
  Grid grid{1 + dice.below(largest), 1 + dice.below(largest), {}};
  for (int i = 0; i < grid.width * grid.height; ++i)
    grid.cells.push_back(static_cast<uint8_t>(dice.one_in(one_in) ? 1 + dice.below(2) : 0));
  return grid;
}

double square_distance(double px, double py, int x, int y) {
  const double gx = std::max({x - px, px - x - 1, 0.0}), gy = std::max({y - py, py - y - 1, 0.0});
  return gx * gx + gy * gy;
}

// A code promises the exact distance to the nearest stop in its quadrant, rounded down to a code, at most 63
// cells.
TEST(GridField, CodesAreTheDistancesOfTheirQuadrant) {
  Dice dice(50);
  for (int i = 0; i < 60; ++i) {
    const Grid grid = random_grid(dice, i % 10 == 0 ? 150 : 25, 1 + dice.below(200));
    const GridField field = grid.field(0.1);
    for (int plane = 0; plane < 4; ++plane) {
      const int sx = plane % 2 == 0 ? 1 : -1, sy = plane / 2 == 0 ? 1 : -1;
      for (int n = 0; n < 40; ++n) {
        const int x = dice.below(grid.width), y = dice.below(grid.height);
        const int code = field.codes()[plane * field.plane_size() + field.code_offset(x, y)];
        if (grid.at(x, y) != 0) {
          ASSERT_EQ(code, grid.at(x, y) == 1 ? GridField::kOccupiedCode : GridField::kUnknownCode);
          continue;
        }
        double nearest = 63 * 63;
        for (int v = -1; v <= grid.height; ++v)
          for (int u = -1; u <= grid.width; ++u)
            if ((u - x) * sx >= 0 && (v - y) * sy >= 0 && grid.at(u, v) != 0) {
              const double gx = std::max(std::abs(u - x) - 1, 0), gy = std::max(std::abs(v - y) - 1, 0);
              nearest = std::min(nearest, gx * gx + gy * gy);
            }
        const int expected =
            GridField::kFreeCode +
            static_cast<int>(std::floor(GridField::kCodesPerCell * std::sqrt(nearest) + 1e-9));
        ASSERT_EQ(code, expected) << "plane " << plane << " cell " << x << ", " << y;
      }
    }
  }
}

TEST(GridField, DistanceToOccupiedIsExact) {
  Dice dice(51);
  for (int i = 0; i < 200; ++i) {
    const Grid grid = random_grid(dice, 60, 1 + dice.below(300));
    const double resolution = dice.one_in(2) ? 0.05 : 1.5;
    const GridField field = grid.field(resolution);
    for (int n = 0; n < 30; ++n) {
      const double x = dice.uniform(-0.4, 1.4) * grid.width,
                   y = dice.uniform(-0.4, 1.4) * grid.height;  // cells
      const double limit = dice.uniform(0, 80);
      double nearest = limit * limit;
      for (int v = 0; v < grid.height; ++v)
        for (int u = 0; u < grid.width; ++u)
          if (grid.at(u, v) == 1) nearest = std::min(nearest, square_distance(x, y, u, v));
      ASSERT_NEAR(field.distance_to_occupied(x * resolution, y * resolution, limit * resolution),
                  std::sqrt(nearest) * resolution, 1e-9);
    }
  }
}

TEST(GridField, OccupiedCellsWithinARadiusRowByRow) {
  Dice dice(52);
  std::vector<CellIndex> found;
  for (int i = 0; i < 300; ++i) {
    const Grid grid = random_grid(dice, 50, 1 + dice.below(20));
    const GridField field = grid.field(0.25);
    const double x = dice.uniform(-0.2, 1.2) * grid.width, y = dice.uniform(-0.2, 1.2) * grid.height;
    const double radius = dice.uniform(0, 20);
    std::vector<CellIndex> expected;
    for (int v = 0; v < grid.height; ++v)
      for (int u = 0; u < grid.width; ++u)
        if (grid.at(u, v) == 1 && square_distance(x, y, u, v) <= radius * radius) expected.push_back({u, v});
    field.occupied_cells(x * 0.25, y * 0.25, radius * 0.25, found);
    ASSERT_EQ(found.size(), expected.size());
    ASSERT_TRUE(found == expected);
  }
}

TEST(GridField, CellsTouchingTheCircleCount) {
  const GridField field(std::vector<uint8_t>{1, 0, 0, 1}, 4, 1, 1.0);
  std::vector<CellIndex> found;
  field.occupied_cells(2, 0.5, 1, found);
  EXPECT_TRUE((found == std::vector<CellIndex>{{0, 0}, {3, 0}}));
  EXPECT_EQ(field.distance_to_occupied(2, 0.5, 5), 1);
}

TEST(GridField, CellsAreReadBack) {
  const GridField field(std::vector<uint8_t>{0, 1, 2, 0, 0, 0}, 3, 2, 0.5);
  EXPECT_EQ(field.cell(0, 0), Cell::kFree);
  EXPECT_EQ(field.cell(1, 0), Cell::kOccupied);
  EXPECT_EQ(field.cell(2, 0), Cell::kUnknown);
  EXPECT_EQ(field.cell(-1, 0), Cell::kUnknown);
  EXPECT_EQ(field.cell(0, 2), Cell::kUnknown);
  EXPECT_EQ(field.cell_at(0.75, 0.25), Cell::kOccupied);
  EXPECT_EQ(field.cell_at(1e300, 0.25), Cell::kUnknown);
  EXPECT_EQ(field.cell_at(std::numeric_limits<double>::quiet_NaN(), 0.25), Cell::kUnknown);
}

TEST(GridField, RowsAreCopiedAsTheirCells) {
  Dice dice(53);
  for (int i = 0; i < 200; ++i) {
    const Grid grid = random_grid(dice, 40, 1 + dice.below(5));
    const GridField field = grid.field(0.1);
    std::vector<Cell> row(static_cast<size_t>(grid.width));
    for (int y = 0; y < grid.height; ++y) {
      field.copy_row(y, row.data());
      for (int x = 0; x < grid.width; ++x)
        ASSERT_EQ(static_cast<int>(row[static_cast<size_t>(x)]), grid.at(x, y)) << x << ' ' << y;
    }
  }
}

TEST(GridField, RefusesWhatIsNoGrid) {
  const std::vector<uint8_t> cells(6, 0);
  EXPECT_THROW(GridField(cells, 3, 3, 0.1), std::invalid_argument);
  EXPECT_THROW(GridField(cells, 0, 6, 0.1), std::invalid_argument);
  EXPECT_THROW(GridField(cells, 3, 2, 0), std::invalid_argument);
  EXPECT_THROW(GridField(cells, 3, 2, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
  EXPECT_THROW(GridField(std::vector<uint8_t>{3}, 1, 1, 1), std::invalid_argument);
}

TEST(GridField, FourHundredSquareStaysInASecondLevelCache) {
  const GridField field(std::vector<uint8_t>(160000, 0), 400, 400, 0.05);
  EXPECT_LT(field.bytes(), 700000U);
}

}  // namespace
}  // namespace mvsim::grid_field_test
