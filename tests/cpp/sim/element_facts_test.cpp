// Behaviour of blocks, walls, planes and grids: each test is a fact of the world language. Further facts are
// in the tests of contacts, animations, regions, joints and elevation maps.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sim/measure.h"
#include "sim/worlds.h"
#include "terrain/ground.h"

namespace mvsim::test::element_facts_test {
namespace {

const std::string kStep = "<simul_timestep>0.005</simul_timestep>";

std::string block(const std::string& inside, const std::string& pose = "0 0 0",
                  const std::string& name = "b") {
  return "<block name='" + name + "'><init_pose>" + pose + "</init_pose>" + inside + "</block>";
}

void expect_same_pose(const Pose3& a, const Pose3& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.yaw, b.yaw);
}

TEST(ElementFacts, StaticBlocksAndWallsNeverMoveWhateverHitsThem) {
  Simulation sim(
      model_of(kStep + block("<static>true</static><mass>0.1</mass>", "2 0 30") +
               "<walls><shape><pt>-2 -3</pt><pt>-2 3</pt></shape></walls>" + bot("a", kPid, kOrigin) +
               block("<mass>500</mass><ground_friction>0</ground_friction><init_vel>0 -8 0</init_vel>",
                     "2 4 0", "heavy")),
      0);
  const Pose3 stone = block_pose(sim, 0), wall = block_pose(sim, 1);
  sim.set_twist(0, 1, 0);
  sim.run(2);
  EXPECT_TRUE(had_collision(sim, 0));
  EXPECT_GT(block_pose(sim, 2).y, 0.5) << "nor did the heavy block pass";
  sim.set_twist(0, -1, 0);
  sim.run(5);
  EXPECT_GT(vehicle_pose(sim, 0).x, -1.7) << "the wall held";
  expect_same_pose(block_pose(sim, 0), stone);
  expect_same_pose(block_pose(sim, 1), wall);
}

// No friction acts on it, so only the damping slows it down.
TEST(ElementFacts, ABlockWithoutMassDriftsFromAnInitialSpeedOnly) {
  Simulation sim(model_of(kStep + block("<mass>0</mass><init_vel>1 0 0</init_vel>", "0 0 90")), 0);
  sim.run(1);
  const double factor = 1 / (1 + 0.1 * 0.005);
  EXPECT_NEAR(block_world_twist(sim, 0).vy, std::pow(factor, 200), 1e-4);
  EXPECT_NEAR(block_pose(sim, 0).y, (1 - std::exp(-0.1)) / 0.1, 2e-3);
}

TEST(ElementFacts, BlocksAtDifferentHeightsCollide) {
  const std::string low = "<zmin>0</zmin><zmax>0.2</zmax>", high = "<zmin>5</zmin><zmax>6</zmax>";
  Simulation sim(model_of(kStep + block(low + "<static>true</static>", "0 0 0", "low") +
                          block(high + "<ground_friction>0</ground_friction><init_vel>-1 0 0</init_vel>",
                                "2 0 0", "high")),
                 0);
  sim.run(4);
  EXPECT_NEAR(block_pose(sim, 1).x, 1, 0.03) << "side at side";
}

// An arrow's notch is no place to drive into.
TEST(ElementFacts, AConcavePolygonCollidesAsItsHull) {
  const auto stopped_at = [](const std::string& points) {
    Simulation sim(model_of(kStep + block("<static>true</static><shape>" + points + "</shape>", "3 0 0") +
                            bot("r", kPid, kOrigin)),
                   0);
    sim.set_twist(0, 1, 0);
    sim.run(6);
    return vehicle_pose(sim, 0).x;
  };
  const double notched = stopped_at("<pt>-1 -1</pt><pt>1 -1</pt><pt>1 1</pt><pt>-1 1</pt><pt>0.9 0</pt>");
  EXPECT_NEAR(notched, 3 - 1 - 0.4, 0.03);
  EXPECT_NEAR(notched, stopped_at("<pt>-1 -1</pt><pt>1 -1</pt><pt>1 1</pt><pt>-1 1</pt>"), 1e-9);
}

TEST(ElementFacts, ABoxHasItsCornerAtTheOriginAndRoundThingsTheirMiddle) {
  const auto bounds = [](const std::string& geometry) {
    Rect out{1e9, -1e9, 1e9, -1e9};
    const auto model = model_of(block("<geometry " + geometry + "/>"));
    for (const Vec2 p : model->blocks[0].shape.outline) {
      out.x_min = std::min(out.x_min, p.x), out.x_max = std::max(out.x_max, p.x);
      out.y_min = std::min(out.y_min, p.y), out.y_max = std::max(out.y_max, p.y);
    }
    return std::vector<double>{out.x_min, out.x_max, out.y_min, out.y_max};
  };
  const auto expect = [&](const std::string& geometry, const std::vector<double>& expected) {
    const std::vector<double> found = bounds(geometry);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << geometry;
  };
  expect("type='box' lx='2' ly='1' lz='1'", {0, 2, 0, 1});
  expect("type='ramp' lx='2' ly='1' lz='1'", {0, 2, -0.5, 0.5});
  expect("type='semi_cylinder_bump' lx='2' ly='1' lz='1'", {-1, 1, -0.5, 0.5});
  for (const char* round : {"type='cylinder' radius='0.5' length='1'", "type='sphere' radius='0.5'"}) {
    const std::vector<double> found = bounds(std::string(round) + " vertex_count='12'");
    EXPECT_NEAR(found[0], -found[1], 1e-9);
    EXPECT_NEAR(found[2], -found[3], 1e-9);
    EXPECT_NEAR(found[1], 0.5, 0.07) << "a corner or a side of 12";
  }
}

TEST(ElementFacts, BeyondAMapTheGroundIsZero) {
  const auto model = model_of(
      "<element class='elevation_map'><elevation_data_matrix>[0 1; 0 1]</elevation_data_matrix>"
      "<corner_min_x>0</corner_min_x><corner_min_y>0</corner_min_y></element>");
  EXPECT_EQ(highest_under(model->terrain, {}, {0.5, 0.25}, 10), 0.25) << "it rises along y alone";
  EXPECT_EQ(highest_under(model->terrain, {}, {0.1, 0.25}, 10), 0.25);
  EXPECT_EQ(highest_under(model->terrain, {}, {1, 0.5}, 10), 0) << "the upper border is outside";
}

TEST(ElementFacts, TheGroundIsTheHighestFloorBelow) {
  const auto terrain_of = [](const std::string& z) {
    return model_of("<element class='horizontal_plane'><z>" + z + "</z></element>")->terrain;
  };
  const auto model =
      model_of("<element class='horizontal_plane'/><element class='horizontal_plane'><z>3</z></element>");
  EXPECT_EQ(highest_under(model->terrain, {}, {}, 1), 0);
  EXPECT_EQ(highest_under(model->terrain, {}, {}, 3.1), 3);
  EXPECT_EQ(highest_under(terrain_of("-2"), {}, {}, 1), -2);
  EXPECT_EQ(highest_under(terrain_of("3"), {}, {}, 1), 0) << "a roof is no ground";
}

// --- Occupancy grids ---

class Grid : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "mvsim_grid_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The world of a grey image of one level, and what comes after it.
  std::shared_ptr<const Model> world(int width, int height, int level, const std::string& more = "",
                                     const std::string& after = "") {
    std::ofstream(folder_ + "/m.pgm", std::ios::binary)
        << "P5 " << width << " " << height << " 255\n"
        << std::string(static_cast<size_t>(width) * static_cast<size_t>(height), static_cast<char>(level));
    return compile_world(load_world_text("<mvsim_world>" + kStep +
                                             "<element class='occupancy_grid'><file>m.pgm</file>" + more +
                                             "</element>" + after + "</mvsim_world>",
                                         folder_, {}));
  }

  std::string folder_;
};

TEST_F(Grid, BlackBlocksMotionAndWhiteDoesNot) {
  const auto driven = [&](int level) {
    // 2 m x 4 m of cells from x = 1 on
    Simulation sim(world(20, 40, level, "<centerpixel_x>-10</centerpixel_x><centerpixel_y>20</centerpixel_y>",
                         bot("r", kPid, kOrigin)),
                   0);
    sim.set_twist(0, 1, 0);
    sim.run(4);
    return vehicle_pose(sim, 0).x;
  };
  EXPECT_NEAR(driven(0), 1 - 0.4, 0.05);
  EXPECT_GT(driven(255), 3.5);
}

TEST_F(Grid, WithoutACentreItsMiddleIsTheOrigin) {
  const auto model = world(100, 50, 255);
  const GridModel& grid = model->grids.at(0);
  EXPECT_EQ(grid.field.resolution(), 0.1) << "the default";
  EXPECT_NEAR(grid.T_world_grid.x, -5, 1e-12);
  EXPECT_NEAR(grid.T_world_grid.y, -2.5, 1e-12);
  EXPECT_NEAR(grid.T_world_grid.x + grid.field.width() * 0.1, 5, 1e-12);
  EXPECT_NEAR(grid.T_world_grid.y + grid.field.height() * 0.1, 2.5, 1e-12);
  EXPECT_NEAR(model->bounds.x_min, -5, 1e-12);
  EXPECT_NEAR(model->bounds.y_max, 2.5, 1e-12);
}

}  // namespace
}  // namespace mvsim::test::element_facts_test
