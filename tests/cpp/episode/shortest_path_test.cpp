// Free cells and path lengths found the quick way against the plain one: every cell asked, the whole field
// made.
#include "task/plan/shortest_path.h"

#include <gtest/gtest.h>

#include <cmath>

#include "episode/episode.h"
#include "task/plan/goal_field.h"
#include "task/plan/planning_grid.h"
#include "task/task.h"
#include "task/task_test_util.h"

namespace mvsim::shortest_path_test {
namespace {

using namespace testing;

std::vector<uint8_t> asked_one_by_one(const PlanningGrid& g, const EnvState& env, const Task& task,
                                      double inflation) {
  std::vector<uint8_t> out;
  for (int i = 0; i < g.width * g.height; ++i)
    out.push_back(is_free(env.simulation, task.agents[0].vehicle, g.center(i), inflation));
  return out;
}

TEST(PlanningGrid, BlocksOfCellsAreJudgedAsTheirCellsAre) {
  for (const char* name : {"nav_arena", "nav_map", "terrain_goal"}) {
    const auto task = compile_task(shipped(name), load_options());
    EnvState env = make_env(*task, 3);
    for (int episode = 0; episode < 3; ++episode) {
      start_episode(*task, env);
      for (const double inflation : {0.0, 0.085, 0.31}) {
        const PlanningGrid g = make_planning_grid(env.simulation, task->agents[0].vehicle, 0.13, inflation);
        ASSERT_EQ(g.free, asked_one_by_one(g, env, *task, inflation)) << name << " " << inflation;
      }
    }
  }
}

TEST(PlanningGrid, AWindowHasTheCellsOfTheWhole) {
  const auto task = compile_task(shipped("nav_arena"), load_options());
  EnvState env = make_env(*task, 4);
  start_episode(*task, env);
  const PlanningGrid whole = make_planning_grid(env.simulation, task->agents[0].vehicle, 0.07, 0.1);
  PlanningGrid window = window_of(whole, {-1.21, 2.3, 0.4, 99});
  find_free_cells(window, env.simulation, task->agents[0].vehicle, 0.1);
  EXPECT_LT(window.free.size(), whole.free.size() / 2);
  for (int i = 0; i < window.width * window.height; ++i) {
    const int same = whole.cell_of(window.center(i));
    ASSERT_EQ(window.center(i), whole.center(same));
    ASSERT_EQ(window.free[i], whole.free[same]);
    ASSERT_EQ(window.cell_of(window.center(i)), i);
  }
  EXPECT_FALSE(window.inside({-1.5, 1}));
  EXPECT_TRUE(window.inside({0, 1}));
}

// In the open, round obstacles, through rooms; `expected` far too short, right and far too long.
TEST(ShortestPath, IsThatOfTheWholeField) {
  const std::vector<std::pair<const char*, Overrides>> scenes{
      {"nav_arena", dict({})},
      {"nav_arena", dict({{"obstacles", number(24)}, {"radius", text("0.2 0.4")}})},
      {"nav_map", dict({})},
      {"off_road", dict({})},
      {"terrain_goal", dict({})}};
  int bent = 0;
  for (const auto& [name, overrides] : scenes) {
    EnvSpec spec = shipped(name);
    apply_overrides(spec, overrides);
    const auto task = compile_task(spec, load_options());
    for (uint64_t key = 0; key < 6; ++key) {
      EnvState env = make_env(*task, key);
      start_episode(*task, env);
      PathQuery q{.agent = task->agents[0].vehicle,
                  .cell = 0.2,
                  .inflation = 0.15,
                  .start = env.agents[0].start,
                  .goal = env.agents[0].goal};
      if (std::string(name) == "nav_arena") q.cell = 0.05;
      const auto grid = std::make_shared<const PlanningGrid>(
          make_planning_grid(env.simulation, q.agent, q.cell, q.inflation));
      const double whole = GoalField(grid, q.goal).distance(q.start);
      bent += whole > norm(q.goal - q.start) + 0.01;
      for (const double expected : {0.0, whole, 1e4}) {
        q.expected = expected;
        EXPECT_NEAR(shortest_path_length(env.simulation, q), whole, 1e-12)
            << name << " " << key << " " << expected;
      }
    }
  }
  EXPECT_GE(bent, 8);
}

// Where no way leads to the goal, and where start or goal lie in cells that are not free, the field has
// values too.
TEST(ShortestPath, IsThatOfTheWholeFieldWhereThereIsNoWay) {
  const auto task = compile_task(shipped("nav_arena"), load_options());
  EnvState env = make_env(*task, 9);
  start_episode(*task, env);
  RandomStream random(1, 0, StreamPurpose::kGoal);
  const auto anywhere = [&] { return Vec2{random.uniform(-3, 3), random.uniform(-3, 3)}; };
  for (int i = 0; i < 40; ++i) {
    const PathQuery q{.agent = task->agents[0].vehicle,
                      .cell = 0.1,
                      .inflation = 0.3,
                      .start = anywhere(),
                      .goal = anywhere()};
    const auto grid = std::make_shared<const PlanningGrid>(
        make_planning_grid(env.simulation, q.agent, q.cell, q.inflation));
    EXPECT_NEAR(shortest_path_length(env.simulation, q), GoalField(grid, q.goal).distance(q.start), 1e-12)
        << i;
  }
}

// Planning at an episode's end may take long, so a caller can stop it.
TEST(ShortestPath, AsksWhetherToGoOn) {
  const auto task = compile_task(shipped("nav_map"), load_options());
  EnvState env = make_env(*task, 3);
  start_episode(*task, env);
  struct Enough {};
  for (int after : {1, 5, 20}) {
    int asked = 0;
    const PathQuery q{.agent = task->agents[0].vehicle,
                      .cell = 0.1,
                      .inflation = 0.3,
                      .start = env.agents[0].start,
                      .goal = env.agents[0].goal};
    EXPECT_THROW(shortest_path_length(env.simulation, q,
                                      [&] {
                                        if (++asked == after) throw Enough();
                                      }),
                 Enough);
    EXPECT_EQ(asked, after);
  }
}

}  // namespace
}  // namespace mvsim::shortest_path_test
