// Facts of the class `laser`, a 2D lidar, in a running world.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "sensor/ray_sensor.h"
#include "sensor/view.h"
#include "sim/worlds.h"

namespace mvsim::test::laser_test {
namespace {

std::string lidar(const std::string& more, const std::string& noise = "0") {
  return "<sensor class='laser' name='l'><nrays>181</nrays><max_range>10</max_range><height>0</height>"
         "<range_std_noise>" +
         noise + "</range_std_noise>" + more + "</sensor>";
}

std::string robot(const std::string& sensor) {
  return bot("r", "", sensor + "<init_pose>0 0 0</init_pose>");
}

// 20 cm thick, its near face at x.
std::string wall(const std::string& x, const std::string& more = "") {
  return "<block name='wall'><static>true</static><init_pose>" + x +
         " 0 0</init_pose><shape><pt>0 -1</pt><pt>0 1</pt><pt>.2 1</pt><pt>.2 -1</pt></shape>" + more +
         "</block>";
}

struct Scan {
  std::vector<float> ranges = std::vector<float>(181);
  std::vector<uint8_t> valid = std::vector<uint8_t>(181);
};

Scan scan(Simulation& sim, size_t sensor = 0) {
  Scan out;
  sim.read_now(sensor, out.ranges.data(), out.valid.data());
  return out;
}

Scan scan(const std::string& world) {
  Simulation sim(model_of(world), 1);
  return scan(sim);
}

bool sees_nothing(const Scan& s) {
  return std::ranges::all_of(s.ranges, [](float r) { return r == 10; }) &&
         std::ranges::none_of(s.valid, [](uint8_t v) { return v != 0; });
}

TEST(Laser, RaysGoFromRightToLeft) {
  const auto model = model_of(robot(lidar("")));
  const RaySensor& sensor = *as_ray_sensor(*model->sensors[0].sensor);
  EXPECT_NEAR(sensor.angles()[0], -kPi / 2, 1e-12);
  EXPECT_NEAR(sensor.angles()[90], 0, 1e-12);
  EXPECT_NEAR(sensor.angles()[180], kPi / 2, 1e-12);
  const ReadingSpec& reading = sensor.reading();
  EXPECT_EQ(reading.shape, std::vector<size_t>{181});
  EXPECT_EQ(reading.dtype, DType::kFloat32);
  EXPECT_EQ(reading.low, 0);
  EXPECT_EQ(reading.high, 10);
  EXPECT_EQ(reading.unit, "m");
}

TEST(Laser, WithoutObstaclesAllRangesAreTheLongestAndInvalid) {
  EXPECT_TRUE(sees_nothing(scan(robot(lidar("", "0.5")))));
}

TEST(Laser, AFaceFiveMetresAheadIsAtFiveMetres) {
  const Scan s = scan(wall("5") + robot(lidar("")));
  EXPECT_NEAR(s.ranges[90], 5, 1e-5);
  EXPECT_EQ(s.valid[90], 1);
  EXPECT_EQ(s.valid[0], 0);
}

TEST(Laser, AHitAtTheLongestRangeCounts) {
  EXPECT_EQ(scan(wall("10") + robot(lidar(""))).valid[90], 1);
  EXPECT_EQ(scan(wall("10.1") + robot(lidar(""))).valid[90], 0);
}

TEST(Laser, HeightsPlayNoPart) {
  for (const char* heights : {"<zmin>5</zmin><zmax>6</zmax>", "<zmin>-6</zmin><zmax>-5</zmax>"})
    EXPECT_NEAR(scan(wall("5", heights) + robot(lidar("<height>1</height>"))).ranges[90], 5, 1e-5) << heights;
}

TEST(Laser, IntangibleBlocksAreNotSeen) {
  EXPECT_TRUE(sees_nothing(scan(wall("5", "<intangible>true</intangible>") + robot(lidar("")))));
}

TEST(Laser, OwnBodyIsNotSeenAndOthersAre) {
  EXPECT_TRUE(sees_nothing(scan(robot(lidar("<pose>-0.3 0.1 0</pose>")))));
  const Scan s = scan(robot(lidar("")) +
                      bot("other", "", "<init_pose>3 0 180</init_pose>"));  // its front is 0.4 m ahead
  EXPECT_NEAR(s.ranges[90], 3 - 0.4, 1e-5);
}

TEST(Laser, WithBodiesVisibleFalseOnlyMapsAreSeen) {
  EXPECT_TRUE(sees_nothing(scan(wall("5") + robot(lidar("<bodies_visible>false</bodies_visible>")) +
                                bot("other", "", "<init_pose>3 0 180</init_pose>"))));
}

// 6 m x 4 m about (2, 0) in cells of 0.1 m, free but for a wall at x = 3, before whose left half (y > 0) lies
// unknown ground at x = 2.
Scan scan_of_map(const std::string& sensor, const std::string& more = "") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("laser_" + std::to_string(getpid()));
  fs::create_directories(folder);
  {
    std::ofstream image(folder / "map.pgm");
    image << "P2 60 40 255\n";
    for (int row = 0; row < 40; ++row)
      for (int column = 0; column < 60; ++column)
        image << (column == 40 ? 0 : column == 30 && row < 20 ? 128 : 255) << "\n";
    std::ofstream(folder / "map.yaml")
        << "image: map.pgm\nresolution: 0.1\norigin: [-1, -2, 0]\nnegate: 0\noccupied_thresh: 0.65\n"
           "free_thresh: 0.2\n";
  }
  WorldLoadOptions load;
  load.roots = {folder};
  const std::string text = "<element class='occupancy_grid'><file>map.yaml</file></element>" + more;
  Simulation sim(compile_world(load_world_text(
                     "<mvsim_world>" + text + robot(lidar(sensor)) + "</mvsim_world>", folder, load)),
                 1);
  fs::remove_all(folder);
  return scan(sim);
}

TEST(Laser, RangesToAMapAreExactAndUnknownCellsStopRays) {
  const Scan s = scan_of_map("<angle_std_noise_deg>0</angle_std_noise_deg>");
  for (int degrees = -30; degrees < 0; ++degrees) {
    const size_t ray = 90 + degrees;
    EXPECT_NEAR(s.ranges[ray], 3 / std::cos(degrees * kDegree), 1e-4) << degrees;
    EXPECT_EQ(s.valid[ray], 1);
    EXPECT_EQ(s.ranges[90 - degrees], 10) << degrees;
    EXPECT_EQ(s.valid[90 - degrees], 0) << degrees;
  }
}

TEST(Laser, WithBodiesVisibleFalseTheMapBehindABlockIsSeen) {
  const std::string exact = "<angle_std_noise_deg>0</angle_std_noise_deg>";
  EXPECT_NEAR(scan_of_map(exact, wall("1")).ranges[80], 1 / std::cos(10 * kDegree), 1e-4);
  EXPECT_NEAR(scan_of_map(exact + "<bodies_visible>false</bodies_visible>", wall("1")).ranges[80],
              3 / std::cos(10 * kDegree), 1e-4);
}

TEST(Laser, ARayThatStartsInABlockDoesNotHitIt) {
  EXPECT_EQ(scan(wall("-0.1") + robot(lidar(""))).valid[90], 0);
}

TEST(Laser, NoiseOfTheAngleLeavesBlocksAlone) {
  const std::string noisy = "<angle_std_noise_deg>20</angle_std_noise_deg>";
  EXPECT_EQ(scan(wall("5") + robot(lidar(noisy))).ranges, scan(wall("5") + robot(lidar(""))).ranges);
}

TEST(Laser, WindowsBlockAndDoorsDoNot) {
  const auto plane = [](const std::string& opening) {
    return "<element class='vertical_plane'><x0>5</x0><y0>-2</y0><x1>5</x1><y1>2</y1>" + opening +
           "</element>";
  };
  EXPECT_EQ(scan(plane("") + robot(lidar(""))).valid[90], 1);
  EXPECT_EQ(scan(plane("<window><position>0.5</position></window>") + robot(lidar(""))).valid[90], 1);
  EXPECT_EQ(scan(plane("<door position='0.5' width='1'/>") + robot(lidar(""))).valid[90], 0);
}

// The watcher stands beside the car and looks at its left front wheel, whose centre is at (1.4, 0.55).
TEST(Laser, SteeredWheelsOfOtherVehiclesAreSeenTurned) {
  const std::string watcher = bot("watcher", "", lidar("") + "<init_pose>1.4 3 -90</init_pose>");
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                          car("ackermann", "<controller class='raw'/>") + watcher),
                 0);
  for (const double steer : {0.0, 0.5, -0.5}) {
    const double command[] = {0, 0, steer};
    sim.set_command(0, command);
    sim.step();
    const double turned = wheel_states(sim, 0)[2].steer;
    EXPECT_EQ(turned != 0, steer != 0);
    // the middle ray meets the long side of a box that is 0.2 m wide and turned about its centre
    EXPECT_NEAR(scan(sim).ranges[90], 3 - 0.55 - 0.1 / std::cos(turned), 1e-5) << steer;
    // and so do clearance and the distance to the nearest thing
    const double radius = std::hypot(0.25, 0.1), corner = std::atan2(0.1, 0.25);
    const double tip = 0.55 + radius * std::sin(corner + std::fabs(turned));
    if (steer != 0) {
      const double side = turned > 0 ? 1 : -1;
      const double x = 1.4 + side * radius * std::cos(corner + std::fabs(turned));
      EXPECT_NEAR(distance_to_obstacles(sim, {x, 2}, 5, 1), 2 - tip, 1e-5) << steer;
    }
  }
}

TEST(Laser, RangesWithNoiseStayWithin0AndTheLongest) {
  const Scan s = scan(wall("0.6") + robot(lidar("", "1")));
  const auto [min, max] = std::ranges::minmax_element(s.ranges);
  EXPECT_EQ(*min, 0);
  EXPECT_EQ(*max, 10);
}

// tests/python/test_laser_3d.py has the tests of its readings in 3D.
TEST(Laser, In3DItIsARaySensorWithAView) {
  const std::string in_3d = "<raytrace_3d>true</raytrace_3d>";
  const auto flat = model_of(robot(lidar(""))), deep = model_of(robot(lidar(in_3d))),
             alone = model_of(robot(lidar(in_3d + "<ignore_parent_body>true</ignore_parent_body>")));
  const RaySensor &plane = *as_ray_sensor(*flat->sensors[0].sensor),
                  &scene = *as_ray_sensor(*deep->sensors[0].sensor);
  EXPECT_EQ(plane.view(), nullptr);
  ASSERT_NE(scene.view(), nullptr);
  EXPECT_EQ(scene.view()->columns.size(), 181u);
  EXPECT_TRUE(std::ranges::equal(plane.angles(), scene.angles()));
  EXPECT_EQ(plane.reading().shape, scene.reading().shape);
  EXPECT_EQ(plane.params().size(), 2u);  // noise of range and angle
  EXPECT_EQ(scene.params().size(), 1u);
  EXPECT_NE(flat->fingerprint, deep->fingerprint);
  EXPECT_NE(deep->fingerprint, alone->fingerprint);
  EXPECT_EQ(deep->fingerprint, model_of(robot(lidar(in_3d)))->fingerprint);
}

}  // namespace
}  // namespace mvsim::test::laser_test
