// Tables of the path search, against geometry in integers.
#include "task/plan/path_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/random.h"

namespace mvsim::path_tables_test {
namespace {

PlanningGrid random_grid(int width, int height, double share_free, uint64_t seed) {
  PlanningGrid g;
  g.width = width;
  g.height = height;
  RandomStream random(seed, 0, StreamPurpose::kGoal);
  for (int i = 0; i < width * height; ++i) g.free.push_back(random.uniform(0, 1) < share_free);
  return g;
}

// Whether the segment between two centres touches a closed cell, in halves of a cell: no side of the cell and
// not the segment's line has one beyond it and the other not.
bool touches(int x0, int y0, int x1, int y1, int x, int y) {
  if (2 * x + 1 < 2 * std::min(x0, x1) || 2 * x - 1 > 2 * std::max(x0, x1)) return false;
  if (2 * y + 1 < 2 * std::min(y0, y1) || 2 * y - 1 > 2 * std::max(y0, y1)) return false;
  const int dx = x1 - x0, dy = y1 - y0;
  return std::abs(2 * (dx * (y - y0) - dy * (x - x0))) <= std::abs(dx) + std::abs(dy);
}

bool sees(const PlanningGrid& g, int from, int to) {
  for (int i = 0; i < g.width * g.height; ++i)
    if (!g.free[static_cast<size_t>(i)] &&
        touches(from % g.width, from / g.width, to % g.width, to / g.width, i % g.width, i / g.width))
      return false;
  return true;
}

TEST(PathTables, SeesWhatNoCellThatIsNotFreeTouchesTheSegmentOf) {
  const struct {
    int width, height;
    double share_free;
  } grids[] = {{14, 11, 0.9}, {11, 14, 0.97}, {9, 9, 0.7}, {1, 12, 0.9}, {12, 1, 0.9}};
  uint64_t seed = 1;
  int seen = 0, hidden = 0;
  for (const auto& [width, height, share_free] : grids) {
    const PlanningGrid g = random_grid(width, height, share_free, seed++);
    const PathTables tables(g);
    for (int from = 0; from < width * height; ++from)
      for (int to = 0; to < width * height; ++to) {
        const bool expected = sees(g, from, to);
        ASSERT_EQ(tables.is_visible(from, to), expected)
            << width << " x " << height << ": " << from << ", " << to;
        ++(expected ? seen : hidden);
      }
  }
  EXPECT_GT(seen, 1000);
  EXPECT_GT(hidden, 1000);
}

TEST(PathTables, TellsMovesAndNeighboursByTheirDirections) {
  const PlanningGrid g = random_grid(9, 7, 0.7, 3);
  const PathTables tables(g);
  for (int cell = 0; cell < 63; ++cell) {
    const unsigned moves = tables.moves_where(cell, [](int) { return true; });
    const unsigned free =
        tables.neighbors_where(cell, [&](int n) { return g.free[static_cast<size_t>(n)] != 0; });
    const unsigned all = tables.neighbors_where(cell, [](int) { return true; });
    EXPECT_EQ(moves, tables.moves(cell));
    EXPECT_EQ(moves & free, moves);
    unsigned solid = 0;
    tables.for_solid_neighbors(cell, [&](int n) {
      for (unsigned i = 0; i < PathTables::kDirections; ++i)
        if ((all >> i & 1) != 0 && tables.neighbor(cell, i) == n) solid |= 1u << i;
    });
    EXPECT_EQ(solid, all & ~free);
    const Vec2 point{0.31, -0.2};
    const PathTables::Offsets offsets(tables, cell, point);
    for (unsigned i = 0; i < PathTables::kDirections; ++i)
      if ((all >> i & 1) != 0) {
        EXPECT_EQ(offsets.distance(i), norm(g.center(tables.neighbor(cell, i)) - point));
        EXPECT_EQ(tables.center(tables.neighbor(cell, i)), g.center(tables.neighbor(cell, i)));
      }
  }
}

}  // namespace
}  // namespace mvsim::path_tables_test
