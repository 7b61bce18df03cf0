// Path lengths against worlds whose shortest paths are known by geometry, and the properties that a potential
// needs.
#include "task/plan/goal_field.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <queue>
#include <thread>

#include "base/random.h"
#include "sim/worlds.h"
#include "task/plan/path_tables.h"
#include "task/plan/planning_grid.h"
#include "task/plan/shortest_path.h"

namespace mvsim::goal_field_test {
namespace {

std::shared_ptr<PlanningGrid> open_grid(int width, int height, double cell) {
  auto g = std::make_shared<PlanningGrid>();
  g->cell = cell;
  g->width = width;
  g->height = height;
  g->free.assign(static_cast<size_t>(width) * height, 1);
  return g;
}

void block(PlanningGrid& g, int x0, int y0, int x1, int y1) {
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) g.free[static_cast<size_t>(y) * g.width + x] = 0;
}

TEST(PlanningGrid, CellsAreThoseOfTheFreeDiscs) {
  std::string body = test::bot("agent", test::kIdeal, test::kOrigin) +
                     test::bot("other", test::kIdeal, "<init_pose>2 1 30</init_pose>") +
                     "<walls><shape><pt>-4 -4</pt><pt>4 -4</pt><pt>4 -4</pt><pt>4 4</pt></shape></walls>";
  for (const char* pose : {"-2 2 10", "3.9 3 50", "1 -3.5 0"})
    body += "<block><init_pose>" + std::string(pose) + "</init_pose></block>";
  const Simulation sim(test::model_of(body), 0);
  int polls = 0;
  const PlanningGrid grid = make_planning_grid(sim, 0, 0.1, 0.4, [&] { ++polls; });
  EXPECT_GE(polls, 2 * (grid.width * grid.height / 256));  // both passes over the cells can be stopped
  int occupied = 0;
  for (int i = 0; i < grid.width * grid.height; ++i) {
    EXPECT_EQ(grid.free[i] != 0, is_free(sim, 0, grid.center(i), 0.4)) << i;
    occupied += grid.free[i] == 0;
  }
  EXPECT_GT(occupied, 500);
}

TEST(PlanningGrid, LargeAndThinWorldsGetLargerCells) {
  const auto cells = [](double width, double height, double cell) {
    const PlanningGrid g = empty_planning_grid({0, width, 0, height}, cell);
    EXPECT_GE(g.width * g.cell, width - 1e-6);
    EXPECT_GE(g.height * g.cell, height - 1e-6);
    const double longer = std::max(g.width, g.height);
    EXPECT_LE(longer * g.width * g.height, 1 << 28);
    return g.width * g.height;
  };
  EXPECT_EQ(cells(80, 80, 1), 6400);
  EXPECT_EQ(cells(100, 100, 0.2), 250000);
  EXPECT_EQ(planning_cell_of({0, 100, 0, 100}, 0.2), 0.2);
  EXPECT_LE(cells(400, 400, 0.2), 1 << 18);
  EXPECT_LE(cells(2e7, 2e7, 0.01), 1 << 18);
  EXPECT_LE(cells(2e7, 0.01, 0.01), 1 << 18);
  EXPECT_LE(cells(0, 1e6, 0.01), 1 << 18);
}

TEST(GoalField, CanBeStopped) {
  struct Stop {};
  int calls = 0;
  const Poll poll = [&] {
    if (++calls == 10) throw Stop();
  };
  EXPECT_THROW(GoalField(open_grid(300, 300, 0.2), {1, 1}, poll), Stop);
}

TEST(GoalField, IsTheStraightDistanceInTheOpen) {
  const auto g = open_grid(60, 40, 0.2);
  for (const Vec2 goal : {Vec2{3.1, 4.1}, Vec2{0.3, 7.7}, Vec2{6.02, 3.97}}) {
    const GoalField field(g, goal);
    RandomStream random(1, 0, StreamPurpose::kGoal);
    for (int i = 0; i < 500; ++i) {
      const Vec2 p{random.uniform(0.1, 11.9), random.uniform(0.1, 7.9)};
      EXPECT_NEAR(field.distance(p), norm(p - goal), 1e-5);
      EXPECT_TRUE(field.reaches(p));
    }
    EXPECT_NEAR(field.distance(goal), 0, 1e-6);
  }
}

TEST(GoalField, BendsAroundTheEndOfAWall) {
  // a wall from the lower border up to y = 5, its end cells' outer corners at (4.9..5.1, 5)
  const double cell = 0.1;
  const auto g = open_grid(100, 100, cell);
  block(*g, 49, 0, 51, 50);
  const Vec2 goal{8.05, 1.05}, start{2.05, 1.05};
  const GoalField field(g, goal);
  // taut string over the two free cells that touch the wall's end
  const Vec2 left{4.85, 5.05}, right{5.15, 5.05};
  const double exact = norm(left - start) + norm(right - left) + norm(goal - right);
  EXPECT_GE(field.distance(start), exact - 0.15);
  EXPECT_LE(field.distance(start), exact + 0.15);
  // the way ahead leads to the corner, not through the wall
  const Vec2 ahead = field.point_ahead(start, 2);
  EXPECT_NEAR(norm(ahead - start), 2, 1e-6);
  EXPECT_GT(ahead.y, start.y + 1.2);
  EXPECT_EQ(field.point_ahead(start, 1e3), goal);
}

// Lengths of paths over the 8 neighbours bound those of the field from above, straight lines from below.
TEST(GoalField, LiesBetweenTheStraightLineAndTheGridPath) {
  RandomStream random(7, 0, StreamPurpose::kPlaceBlocks);
  for (int scene = 0; scene < 30; ++scene) {
    const auto g = open_grid(40, 30, 0.2);
    for (int k = 0; k < 25; ++k) {
      const int x = static_cast<int>(random.below(37)), y = static_cast<int>(random.below(27));
      block(*g, x, y, x + 1 + static_cast<int>(random.below(3)), y + 1 + static_cast<int>(random.below(3)));
    }
    int goal_cell = 0;
    do goal_cell = static_cast<int>(random.below(40 * 30));
    while (!g->free[goal_cell]);
    const GoalField field(g, g->center(goal_cell));
    // Dijkstra by relaxation until nothing changes
    std::vector<double> grid(g->free.size(), 1e9);
    grid[goal_cell] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (int c = 0; c < 40 * 30; ++c) {
        if (!g->free[c]) continue;
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int x = c % 40 + dx, y = c / 40 + dy;
            if (x < 0 || y < 0 || x >= 40 || y >= 30 || !g->free[y * 40 + x]) continue;
            if (dx && dy && !(g->free[c / 40 * 40 + x] && g->free[y * 40 + c % 40])) continue;
            const double d = grid[y * 40 + x] + 0.2 * std::sqrt(dx * dx + dy * dy);
            if (d < grid[c] - 1e-12) grid[c] = d, changed = true;
          }
        }
      }
    }
    for (int c = 0; c < 40 * 30; ++c) {
      if (!g->free[c]) continue;
      const Vec2 p = g->center(c);
      ASSERT_EQ(field.reaches(p), grid[c] < 1e8);
      if (!field.reaches(p)) continue;
      EXPECT_GE(field.distance(p), norm(p - field.goal()) - 1e-5);
      EXPECT_LE(field.distance(p), grid[c] + 1e-4);
      // no path of 8 directions is longer than 8.3 % beyond the straight one, piece by piece
      EXPECT_GE(field.distance(p), grid[c] / 1.0824 - 1e-4);
    }
  }
}

TEST(GoalField, IsAPotentialEverywhere) {
  const auto g = open_grid(50, 50, 0.2);
  block(*g, 20, 0, 24, 40);
  block(*g, 35, 10, 50, 14);
  const GoalField field(g, {9.1, 9.1});
  // also within walls, and without jumps
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 2000; ++i) {
    const Vec2 p{random.uniform(0, 10), random.uniform(0, 10)};
    EXPECT_TRUE(std::isfinite(field.distance(p)));
    EXPECT_GE(field.distance(p), 0);
  }
  for (int i = 0; i < 400; ++i) {
    const Vec2 p{2.0, 0.3 + 0.02 * i}, q{2.0, 0.32 + 0.02 * i};
    EXPECT_NEAR(field.distance(p), field.distance(q), 0.021 + 1e-3);
  }
  EXPECT_FALSE(field.reaches({4.3, 1}));
  EXPECT_FALSE(field.reaches({-1, 1}));
}

std::shared_ptr<PlanningGrid> random_grid(RandomStream& random) {
  const int width = 1 + static_cast<int>(random.below(70)), height = 1 + static_cast<int>(random.below(70));
  auto g = open_grid(width, height, random.uniform(0.05, 0.5));
  g->origin = {random.uniform(-9, 9), random.uniform(-9, 9)};
  for (uint32_t i = random.below(30); i > 0; --i) {
    const int x = static_cast<int>(random.below(static_cast<uint32_t>(g->width)));
    const int y = static_cast<int>(random.below(static_cast<uint32_t>(g->height)));
    const int columns = 1 + static_cast<int>(random.below(12)), rows = 1 + static_cast<int>(random.below(12));
    block(*g, x, y, std::min(g->width, x + columns), std::min(g->height, y + rows));
  }
  return g;
}

// Tables, the order of the queue and the short indices change nothing: the sum is that of a plain search with
// one heap, which looks at every neighbour and walks every line cell by cell.
TEST(GoalField, HasTheBitsOfAPlainSearch) {
  constexpr uint64_t kPlainSearch = 0x8b9087195a9116c5;
  RandomStream random(5, 0, StreamPurpose::kGoal);
  uint64_t hash = 0xcbf29ce484222325;
  for (int k = 0; k < 40; ++k) {
    const auto g = random_grid(random);
    if (k % 2 == 0) g->tables = std::make_shared<const PathTables>(*g);
    const int cells = static_cast<int>(g->free.size());
    const GoalField field(g, g->center(static_cast<int>(random.below(static_cast<uint32_t>(cells)))));
    for (int i = 0; i < cells; ++i) {
      const auto bits = std::bit_cast<uint64_t>(field.distance(g->center(i)));
      hash = (hash ^ bits ^ static_cast<uint64_t>(field.reaches(g->center(i)))) * 0x100000001b3;
    }
  }
  EXPECT_EQ(hash, kPlainSearch);
}

TEST(CellQueue, KeepsTheOrderOfDistanceAndIndex) {
  RandomStream random(3, 0, StreamPurpose::kGoal);
  CellQueue queue(0.05);
  std::priority_queue<std::pair<float, int>, std::vector<std::pair<float, int>>, std::greater<>> plain;
  const auto pop = [&] {
    const auto [distance, cell] = queue.pop();
    EXPECT_EQ(std::pair(distance, int{cell}), plain.top());
    plain.pop();
  };
  for (int i = 0; i < 5000; ++i) {
    const bool far = random.below(100) == 0;
    const float distance = far ? std::numeric_limits<float>::infinity()
                               : static_cast<float>(0.01 * random.below(static_cast<uint32_t>(200 + i)));
    const int cell = static_cast<int>(random.below(1000));
    queue.push(distance, cell);
    plain.emplace(distance, cell);
    if (random.below(2) == 0) pop();
  }
  while (!queue.empty()) pop();
  EXPECT_TRUE(plain.empty());
}

TEST(GoalFieldCache, MakesAFieldOnceForAllThreads) {
  const auto g = open_grid(60, 60, 0.2);
  GoalFieldCache cache;
  std::vector<std::shared_ptr<const GoalField>> found(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      // slow enough that all ask before the first is done
      found[i] = cache.get(0, g, {1, 1}, [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& field : found) EXPECT_EQ(field, found[0]);
}

TEST(GoalFieldCache, AFieldThatFailedIsMadeByTheNext) {
  struct Stop {};
  const auto g = open_grid(60, 60, 0.2);
  GoalFieldCache cache;
  EXPECT_THROW(cache.get(0, g, {1, 1}, [] { throw Stop(); }), Stop);
  EXPECT_TRUE(cache.get(0, g, {1, 1})->reaches({2, 2}));
}

TEST(GoalFieldCache, ForgetsTheLeastUsedAndNeverChangesAValue) {
  const auto g = open_grid(100, 100, 0.2);
  const size_t one = GoalField(g, {1, 1}).bytes();
  GoalFieldCache cache(5 * one);
  const auto goal = [](int i) { return Vec2{0.1 + 0.2 * (i % 50), 3.1}; };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      const auto field = cache.get(0, g, goal(i));
      EXPECT_LE(cache.bytes(), 5 * one);
      EXPECT_EQ(field->distance({5, 9}), GoalField(g, goal(i)).distance({5, 9}));
      EXPECT_EQ(cache.get(0, g, goal(i)), field);
    }
  }
  const auto kept = cache.get(0, g, goal(0));
  for (int i = 1; i < 5; ++i) cache.get(0, g, goal(i));
  EXPECT_EQ(cache.get(0, g, goal(0)), kept);
  EXPECT_NE(cache.get(1, g, goal(0)), kept);  // another world
}

}  // namespace
}  // namespace mvsim::goal_field_test
