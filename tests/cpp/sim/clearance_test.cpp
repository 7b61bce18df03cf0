// The distance to a map against every occupied cell of it, one by one.
#include "sim/measure.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "model/compile.h"
#include "raycast/polygon_cast.h"
#include "sim/simulation.h"
#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::clearance_test {
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

TEST(Clearance, OfBlocksIsThatOfTheNearest) {
  RandomStream random(4, 0, StreamPurpose::kSpawn);
  std::string world = vehicle("differential");
  for (int i = 0; i < 30; ++i)
    world += "<block name='b" + std::to_string(i) + "'><static>true</static><init_pose>" +
             std::to_string(random.uniform(-6, 6)) + " " + std::to_string(random.uniform(-6, 6)) + " " +
             std::to_string(random.uniform(0, 360)) + "</init_pose><geometry type='" +
             (i % 2 == 0 ? "box' lx='2' ly='0.1' lz='1'/>"
                         : "cylinder' radius='0.4' length='1' vertex_count='7'/>") +
             "</block>";
  Simulation sim(model_of(world), 1);
  int near = 0, touching = 0;
  for (int i = 0; i < 300; ++i) {
    sim.place_vehicle(0, {random.uniform(-6, 6), random.uniform(-6, 6), random.uniform(-4, 4)});
    double expected = 0.5;
    for (size_t b = 0; b < sim.model().blocks.size(); ++b)
      expected = std::min(expected, polygon_distance(vehicle_outline(sim, 0), block_outline(sim, b)));
    ASSERT_NEAR(clearance(sim, 0, 0.5), expected, 1e-6) << i << ": poses of bodies are in single precision";
    touching += expected == 0;
    near += expected > 0 && expected < 0.5;
  }
  EXPECT_GT(touching, 30);
  EXPECT_GT(near, 50);
}

}  // namespace
}  // namespace mvsim::test::clearance_test
