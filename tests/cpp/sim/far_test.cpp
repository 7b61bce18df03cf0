// A world is the same wherever it lies: motion, contacts, ground and readings far from (0, 0), as in worlds
// of UTM coordinates.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sim/worlds.h"

namespace mvsim::test::far_test {
namespace {

namespace fs = std::filesystem;

std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.12g", value);
  return buffer;
}

std::string tag(const char* name, double value) {
  return "<" + std::string(name) + ">" + number(value) + "</" + name + ">";
}

// Two robots, a wall, a wall in map coordinates, a crate, a placed post, a map, hills and a slippery region,
// all of it `at`.
std::shared_ptr<const Model> world_at(Vec2 at) {
  const auto pose = [&](double x, double y, double yaw) {
    return "<init_pose>" + number(at.x + x) + " " + number(at.y + y) + " " + number(yaw) + "</init_pose>";
  };
  const auto point = [&](double x, double y) {
    return "<pt>" + number(at.x + x) + " " + number(at.y + y) + "</pt>";
  };
  const fs::path folder = fs::temp_directory_path() / ("far_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "map.pgm") << "P2 4 3 255  0 0 0 0  255 255 255 255  255 255 255 255\n";
  std::ofstream(folder / "map.yaml") << "image: map.pgm\nresolution: 0.1\norigin: [" << number(at.x + 1)
                                     << ", " << number(at.y - 2) << ", 0]\nnegate: 0\noccupied_thresh: 0.65\n"
                                     << "free_thresh: 0.2\n";
  const std::string lidar =
      "<sensor class='laser' name='l'><nrays>181</nrays><fov_degrees>360</fov_degrees>"
      "<max_range>9</max_range><range_std_noise>0</range_std_noise>"
      "<angle_std_noise_deg>0</angle_std_noise_deg></sensor>";
  const std::string text =
      "<simul_timestep>0.005</simul_timestep><element class='occupancy_grid'><file>map.yaml</file></element>"
      "<element class='elevation_map'><elevation_data_matrix>[0 0 0; 0 0.05 0; 0 0.1 "
      "0]</elevation_data_matrix>"
      "<resolution>3</resolution>" +
      tag("corner_min_x", at.x - 3) + tag("corner_min_y", at.y - 3) +
      "</element><element class='property_region'><property_name>friction_mu</property_name>"
      "<value_double>0.3</value_double>" +
      tag("x_min", at.x - 1) + tag("x_max", at.x + 0.4) + tag("y_min", at.y - 1) + tag("y_max", at.y + 1) +
      "</element><block name='wall'><static>true</static>" + pose(2.5, 0, 10) +
      "<shape><pt>0 -3</pt><pt>0 3</pt><pt>.2 3</pt><pt>.2 -3</pt></shape></block>"
      "<block name='house'><static>true</static><init_pose>0 0 0</init_pose><shape>" +
      point(-4, -4) + point(-4, 4) + point(-3, 4) + point(-3, -4) + "</shape></block><block name='crate'>" +
      "<mass>5</mass>" + pose(1.3, 0.15, 20) +
      "<shape><pt>-.2 -.2</pt><pt>-.2 .2</pt><pt>.2 .2</pt><pt>.2 -.2</pt></shape></block><block name='post'>"
      "<static>true</static>" +
      pose(-2, 1, 0) + "<geometry type='cylinder' radius='0.2' length='1'/></block>" +
      bot("a", kPid, pose(0, 0, 5) + lidar) + bot("b", kIdeal, pose(-1.5, -1, 90));
  WorldLoadOptions load;
  load.roots = {folder};
  const auto model = compile_world(load_world_text("<mvsim_world>" + text + "</mvsim_world>", folder, load),
                                   {.placed_blocks = {"post"}});
  fs::remove_all(folder);
  return model;
}

TEST(Far, AWorldInMapCoordinatesMovesAndReadsAsNearTheOrigin) {
  const Vec2 there{500000, 4000000};
  Simulation near(world_at({0, 0}), 1), far(world_at(there), 1);
  EXPECT_EQ(near.model().origin, (Vec2{0, 0}));
  EXPECT_LT(norm(far.model().origin - there), 5);
  EXPECT_TRUE(far.model().warnings.empty());
  for (Simulation* s : {&near, &far}) {
    const Vec2 at = s == &far ? there : Vec2{};
    s->place_block(s->model().block_index("post"), {at.x - 1.5, at.y + 1.5, 0.3});
    s->set_twist(0, 0.8, 0.05);
    s->set_twist(1, 0.4, -0.2);
  }
  bool collided = false;
  double highest = 0;
  for (int i = 0; i < 1000; ++i) {
    near.step();
    far.step();
    for (size_t v = 0; v < 2; ++v) {
      const Pose3 a = vehicle_pose(near, v), b = vehicle_pose(far, v);
      ASSERT_NEAR(a.x, b.x - there.x, 1e-4) << i;
      ASSERT_NEAR(a.y, b.y - there.y, 1e-4) << i;
      ASSERT_NEAR(a.yaw, b.yaw, 1e-4) << i;
      ASSERT_NEAR(a.z, b.z, 1e-5) << i;
      ASSERT_NEAR(a.pitch, b.pitch, 1e-5) << i;
      highest = std::max(highest, b.z);
    }
    const Pose3 a = block_pose(near, 2), b = block_pose(far, 2);
    ASSERT_NEAR(a.x, b.x - there.x, 1e-4) << i;
    ASSERT_NEAR(a.y, b.y - there.y, 1e-4) << i;
    EXPECT_EQ(had_collision(near, 0), had_collision(far, 0)) << i;
    collided = collided || had_collision(far, 0);
    ASSERT_NEAR(clearance(near, 0, 5), clearance(far, 0, 5), 2e-4) << i;
  }
  EXPECT_TRUE(collided);
  EXPECT_GT(highest, 0.01);
  EXPECT_NEAR(near.state().vehicles[0].odometry.x, far.state().vehicles[0].odometry.x, 1e-4);
  size_t hits = 0;
  for (size_t i = 0; i < near.reading(0).size(); ++i) {
    hits += near.reading_valid(0)[i];
    EXPECT_NEAR(near.reading(0)[i], far.reading(0)[i], 2e-3) << i;
  }
  EXPECT_GT(hits, 60u);
}

// Where positions themselves had single precision, nothing below 0.1 m/s moved at 10 km.
TEST(Far, SlowMotionIsNotLost) {
  for (const double x : {10e3, -1e6}) {
    Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                            bot("r", kIdeal, "<init_pose>" + number(x) + " 3000 0</init_pose>")),
                   0);
    sim.set_twist(0, 0.05, 0);
    sim.run(10);
    EXPECT_NEAR(vehicle_pose(sim, 0).x - x, 0.05 * (10 - 0.005), 1e-4) << x;
    EXPECT_NEAR(vehicle_pose(sim, 0).y, 3000, 1e-4);
    sim.place_vehicle(0, {x + 0.25, 3000.125, 1});
    EXPECT_NEAR(vehicle_pose(sim, 0).x, x + 0.25, 1e-6);
    EXPECT_NEAR(vehicle_pose(sim, 0).y, 3000.125, 1e-6);
  }
}

TEST(Far, AWorldTooLargeIsTold) {
  const auto with_robots = [](double x) {
    return model_of(bot("a", kIdeal, "<init_pose>" + number(-x) + " 0 0</init_pose>") +
                    bot("b", kIdeal, "<init_pose>" + number(x) + " 0 0</init_pose>"));
  };
  EXPECT_TRUE(with_robots(4900)->warnings.empty());
  const auto large = with_robots(6000);
  ASSERT_EQ(large->warnings.size(), 1u);
  EXPECT_TRUE(has(large->warnings[0], "the world reaches 6005 m from its middle"));
  // a world within 500 m keeps its origin, wherever its middle is
  EXPECT_EQ(with_robots(490)->origin, (Vec2{0, 0}));
  EXPECT_EQ(model_of(bot("a", kIdeal, "<init_pose>490 20 0</init_pose>"))->origin, (Vec2{0, 0}));
  EXPECT_EQ(model_of(bot("a", kIdeal, "<init_pose>600.4 20 0</init_pose>"))->origin, (Vec2{600, 20}));
}

// The body of a wall in map coordinates stands at the solver's origin: joints hold the wall all the same.
TEST(Far, AJointHoldsAWallInMapCoordinates) {
  for (const double length : {400.0, 1400.0}) {
    Simulation sim(model_of(bot("r", kIdeal, "<init_pose>0 0 0</init_pose>") +
                            "<block name='b'><static>true</static><shape><pt>-0.1 -1</pt><pt>-0.1 " +
                            number(length) + "</pt><pt>0.1 " + number(length) +
                            "</pt><pt>0.1 -1</pt></shape><init_pose>-1.9 0 0</init_pose></block>"
                            "<joint type='distance' body_a='r' anchor_a='0 0' body_b='b' anchor_b='0.1 0' "
                            "max_length='2' min_length='0'/>"),
                   0);
    sim.set_twist(0, 0.5, 0);
    sim.run(2);
    EXPECT_NEAR(vehicle_pose(sim, 0).x, 0.2, 0.02) << length;
    EXPECT_NEAR(vehicle_pose(sim, 0).y, 0, 1e-3) << length;
  }
}

}  // namespace
}  // namespace mvsim::test::far_test
