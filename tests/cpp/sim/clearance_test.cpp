// The distance to a map against every occupied cell of it, one by one.
#include "sim/clearance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "model/compile.h"
#include "raycast/polygon_distance.h"
#include "sim/simulation.h"
#include "source_dir.h"

namespace mvsim::test {
namespace {

double brute_force(const SimScene& sim, double limit) {
  const GridModel& grid = sim.model.grids.at(0);
  const Rotation2 turn(grid.T_world_grid.yaw);
  Polygon local;
  for (const Vec2 v : vehicle_outline(sim, 0))
    local.push_back(turn.unrotate({v.x - grid.T_world_grid.x, v.y - grid.T_world_grid.y}));
  const double side = grid.field.resolution();
  double best = limit;
  for (int y = 0; y < grid.field.height(); ++y)
    for (int x = 0; x < grid.field.width(); ++x) {
      const Vec2 corner{x * side, y * side};
      if (grid.field.cell(x, y) != Cell::kOccupied || norm(corner - local[0]) > limit + 2) continue;
      const Vec2 square[] = {corner,
                             {corner.x + side, corner.y},
                             {corner.x + side, corner.y + side},
                             {corner.x, corner.y + side}};
      best = std::min(best, polygon_distance(local, square));
    }
  return best;
}

TEST(Clearance, OfAMapIsThatOfItsNearestCell) {
  WorldLoadOptions load;
  Simulation sim(load_model(source_dir() + "/worlds/nav_map.world.xml", load), 1);
  const Rect area = sim.model().bounds;
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  int touching = 0, near = 0;
  for (int i = 0; i < 60; ++i) {
    sim.place_vehicle(0, {random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max),
                          random.uniform(-4, 4)});
    const double expected = brute_force(sim, 0.5);
    ASSERT_EQ(clearance(sim, 0, 0.5), expected) << i;
    touching += expected == 0;
    near += expected > 0 && expected < 0.5;
  }
  EXPECT_GT(touching, 3);
  EXPECT_GT(near, 10);
}

}  // namespace
}  // namespace mvsim::test
