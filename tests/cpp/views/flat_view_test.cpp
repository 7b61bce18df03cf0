// Views from the plane against plain rays: two ways to the same picture that share no code below the scene.
// They may differ at edges, where a ray falls on either side by rounding.
#include <gtest/gtest.h>

#include <set>

#include "assets/png_writer.h"
#include "base/simd.h"
#include "model/model.h"
#include "sensor/view_sensor.h"
#include "source_dir.h"
#include "views/flat_worlds.h"
#include "worldfile/world_text.h"

namespace mvsim::test::flat_view_test {
namespace {

constexpr double kSameLabels = 0.995;
constexpr float kDepthTolerance = 1e-3F;  // m, of the contract between the ways to draw

void expect_contract(const BothWays& both, const std::string& what) {
  const auto labels = both.from_plane<uint16_t>(ViewContent::kLabels),
             wanted = both.by_rays<uint16_t>(ViewContent::kLabels);
  const auto depth = both.from_plane<float>(ViewContent::kDepth),
             exact = both.by_rays<float>(ViewContent::kDepth);
  ASSERT_EQ(labels.size(), wanted.size()) << what;
  ASSERT_EQ(depth.size(), exact.size()) << what;
  size_t same = 0, wrong = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != wanted[i]) continue;
    ++same;
    if (std::fabs(depth[i] - exact[i]) > kDepthTolerance) ++wrong;
  }
  EXPECT_GE(static_cast<double>(same), kSameLabels * static_cast<double>(labels.size())) << what;
  // equal labels on either side of an edge of one thing
  EXPECT_LE(static_cast<double>(wrong), 1e-3 * static_cast<double>(labels.size())) << what;
}

// Returns for each pixel whether it or a neighbour differs from its right or lower neighbour in label, depth
// or shade.
std::vector<bool> edges_of(const BothWays& both) {
  const auto labels = both.by_rays<uint16_t>(ViewContent::kLabels);
  const auto depth = both.by_rays<float>(ViewContent::kDepth);
  const auto shaded = both.by_rays<uint8_t>(ViewContent::kColor),
             lit = both.by_rays<uint8_t>(ViewContent::kColor, false);
  const auto width = static_cast<size_t>(both.view().width), height = labels.size() / width;
  const auto in_shade = [&](size_t i) { return std::abs(lit[3 * i] - shaded[3 * i]) > 2; };
  const auto differ = [&](size_t i, size_t j) {
    return labels[i] != labels[j] || in_shade(i) != in_shade(j) ||
           std::fabs(depth[i] - depth[j]) > 0.1F * depth[i];
  };
  std::vector<bool> edges(labels.size());
  for (size_t row = 0; row < height; ++row)
    for (size_t column = 0; column < width; ++column)
      for (size_t r = row > 0 ? row - 1 : 0; r <= std::min(row + 1, height - 1); ++r)
        for (size_t c = column > 0 ? column - 1 : 0; c <= std::min(column + 1, width - 1); ++c)
          if (differ(row * width + column, r * width + c)) edges[row * width + column] = true;
  return edges;
}

void expect_colors(const BothWays& both, const std::string& what) {
  const auto found = both.from_plane<uint8_t>(ViewContent::kColor),
             wanted = both.by_rays<uint8_t>(ViewContent::kColor);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  const std::vector<bool> edges = edges_of(both);
  size_t counted = 0, wrong = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i]) continue;
    ++counted;
    bool same = true;
    for (size_t k = 0; k < 3; ++k) same = same && std::abs(found[3 * i + k] - wanted[3 * i + k]) <= 2;
    if (!same) ++wrong;
  }
  EXPECT_GT(counted, edges.size() / 3) << what;
  EXPECT_LE(static_cast<double>(wrong), 0.01 * static_cast<double>(counted)) << what;
}

TEST(FlatView, HasTheColorsAndShadowsOfRays) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    Numbers random{std::mt19937(2000 + seed)};
    const Simulation simulation(
        drawn_model(kFloor + random_blocks(100 + seed, 40) + two_robots(level_camera(random.in(0.15, 1.8)))),
        0);
    const BothWays both(simulation, 0, 1);
    ASSERT_EQ(both.view().content, ViewContent::kColor);
    expect_colors(both, "seed " + std::to_string(seed));
  }
}

// A low one throws the shadow of everything on everything, which no list holds (render/level/flat_casters.h).
TEST(FlatView, HasTheShadowsOfALowSun) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Simulation simulation(
        drawn_model("<lights><light_elevation_deg>7</light_elevation_deg><light_azimuth_deg>" +
                    std::to_string(40 + 110 * seed) + "</light_azimuth_deg></lights>" + kFloor +
                    random_blocks(400 + seed, 200) + two_robots(level_camera(0.9))),
        0);
    expect_colors(BothWays(simulation, 0, 1), "seed " + std::to_string(seed));
  }
}

TEST(FlatView, ShowsWhatRaysSee) {
  std::set<uint16_t> seen;
  for (unsigned seed = 0; seed < 32; ++seed) {
    Numbers random{std::mt19937(1000 + seed)};
    const double z = random.in(0.15, 1.8);
    const Simulation simulation(
        drawn_model(kFloor + random_blocks(seed, 40) +
                    two_robots(level_camera(z) + level_camera(0.5 * z, "170 0 0", "back") +
                               level_lidar(z, seed % 2 == 0))),
        0);
    for (size_t sensor = 0; sensor < 3; ++sensor) {
      const BothWays both(simulation, sensor, 0);
      ASSERT_TRUE(both.is_level());
      expect_contract(both, "seed " + std::to_string(seed) + ", sensor " + std::to_string(sensor));
      for (const uint16_t label : both.from_plane<uint16_t>(ViewContent::kLabels)) seen.insert(label);
    }
  }
  EXPECT_GT(seen.size(), 40U);
}

TEST(FlatView, HasTheIntensitiesOfRays) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Simulation simulation(
        drawn_model(kFloor + random_blocks(200 + seed, 40) + two_robots(level_lidar(0.6))), 0);
    const BothWays both(simulation, 0, 1);
    ASSERT_EQ(both.view().content, ViewContent::kIntensity);
    const auto found = both.from_plane<float>(ViewContent::kIntensity),
               wanted = both.by_rays<float>(ViewContent::kIntensity);
    ASSERT_EQ(found.size(), wanted.size());
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i)
      if (std::fabs(found[i] - wanted[i]) > 2.0F / 255) ++wrong;
    EXPECT_LE(static_cast<double>(wrong), 5e-3 * static_cast<double>(found.size())) << seed;
  }
}

// A map of random walls, and unknown cells, with free ones about the middle.
std::shared_ptr<const Model> map_world(unsigned seed, const std::string& more) {
  const TempFolder folder;
  Numbers random{std::mt19937(seed)};
  std::string cells;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x) {
      const bool middle = std::abs(x - 30) < 6 && std::abs(y - 30) < 6;
      const double kind = random.in(0, 1);
      cells += static_cast<char>(middle || kind > 0.2 ? 254 : (kind > 0.08 ? 127 : 0));
    }
  folder.write("m.pgm", "P5 60 60 255\n" + cells);
  return compile_world(
      load_world_text(
          "<mvsim_world><element class='occupancy_grid'><file>m.pgm</file>"
          "<resolution>0.2</resolution><centerpixel_x>30</centerpixel_x><centerpixel_y>30</centerpixel_y>"
          "</element>" +
              more + "</mvsim_world>",
          folder.path(), {}),
      kDrawn);
}

TEST(FlatView, ShowsMapsAsRaysDo) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const double z = seed % 2 == 0 ? 0.3 : 1.1;  // below and above the walls
    const Simulation simulation(
        map_world(seed, random_blocks(seed, 6) + two_robots(level_camera(z) + level_lidar(z))), 0);
    const BothWays camera(simulation, 0, 0), lidar(simulation, 1, 0), colors(simulation, 0, 1);
    ASSERT_FALSE(camera.from_plane<float>(ViewContent::kDepth).empty());
    expect_contract(camera, "camera, seed " + std::to_string(seed));
    expect_contract(lidar, "lidar, seed " + std::to_string(seed));
    expect_colors(colors, "seed " + std::to_string(seed));
  }
}

TEST(FlatView, LeavesWhatIsWithinTheWallsOfAMapToRays) {
  std::string tower = level_camera(0.3);
  tower.replace(tower.find("0.1 0.05"), 8, "20 20");
  const TempFolder folder;
  folder.write("m.pgm", "P5 2 2 255\n" + std::string(4, '\0'));
  const Simulation simulation(
      compile_world(load_world_text("<mvsim_world><element class='occupancy_grid'><file>m.pgm</file>"
                                    "<resolution>40</resolution></element>" +
                                        tower + "</mvsim_world>",
                                    folder.path(), {}),
                    kDrawn),
      0);
  const BothWays both(simulation, 0, 0);
  EXPECT_TRUE(both.is_level());
  EXPECT_TRUE(both.from_plane<float>(ViewContent::kDepth).empty());
}

TEST(FlatView, MeshesAndWheelsAreMergedByDepth) {
  const std::string mesh =
      "<visual><model_uri>meshes/box.dae</model_uri><model_roll>90</model_roll></visual>";
  std::string blocks;
  for (const char* pose : {"2 1.5 20", "3 -1 -40", "-2 2 0", "1.5 -2.5 80"})
    blocks +=
        "<block><static>true</static><init_pose>" + std::string(pose) + "</init_pose>" + mesh + "</block>";
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Simulation simulation(
        compile_world(load_world_text("<mvsim_world>" + (kFloor + blocks) + random_blocks(300 + seed, 25) +
                                          two_robots(level_camera(0.8) + level_lidar(1.1)) + "</mvsim_world>",
                                      source_dir() + "/tests/data", {}),
                      kDrawn),
        0);
    const BothWays both(simulation, 0, 1);
    expect_contract(both, "camera, seed " + std::to_string(seed));
    expect_contract(BothWays(simulation, 1, 0), "lidar, seed " + std::to_string(seed));
    expect_colors(both, "seed " + std::to_string(seed));
  }
}

TEST(FlatView, WallsWithDoorsAndPeopleAreShownAsRaysShowThem) {
  const std::string more =
      "<element "
      "class='vertical_plane'><x0>-4</x0><y0>3</y0><x1>6</x1><y1>3.5</y1><z>0</z><height>2.2</height>"
      "<door position='0.4' width='1.2'/></element><actor name='p'><init_pose>3 0.5 30</init_pose></actor>";
  const Simulation simulation(
      drawn_model(kFloor + more + random_blocks(7, 20) + two_robots(level_camera(1.2, "60 0 0"))), 0);
  const BothWays both(simulation, 0, 1);
  expect_contract(both, "walls");
  expect_colors(both, "walls");
}

TEST(FlatView, PaintsTexturesAsRaysDo) {
  const TempFolder folder;
  Numbers random{std::mt19937(4)};
  std::string rows;
  for (int y = 0; y < 32; ++y) {
    rows += '\0';
    for (int x = 0; x < 32 * 3; ++x) rows += static_cast<char>(random.source() & 255);
  }
  folder.write("t.png", png(32, 32, 8, kPngRgb, rows));
  const std::string texture =
      "<texture>t.png</texture><texture_size_x>1.5</texture_size_x><texture_size_y>0.8</texture_size_y>";
  std::string more =
      "<element class='horizontal_plane'><x_min>-20</x_min><x_max>20</x_max><y_min>-20</y_min>"
      "<y_max>20</y_max>" +
      texture +
      "</element><element class='vertical_plane'><x0>-4</x0><y0>3</y0>"
      "<x1>6</x1><y1>3.5</y1>" +
      texture + "</element>";
  for (const char* block : {"2.5 0.5 20", "4 -1.5 -40"})
    more += "<block><init_pose>" + std::string(block) + "</init_pose><zmax>0.6</zmax>" + texture +
            "<shape><pt>-.5 -.5</pt><pt>.5 -.5</pt><pt>.6 .5</pt><pt>-.5 .4</pt></shape></block>";
  for (const double z : {0.4, 1.2}) {
    const Simulation simulation(
        compile_world(load_world_text("<mvsim_world>" + more + two_robots(level_camera(z)) + "</mvsim_world>",
                                      folder.path(), {}),
                      kDrawn),
        0);
    expect_colors(BothWays(simulation, 0, 1), std::to_string(z));
  }
}

// Views that must be drawn by rays, because an eye leans or the ground is not level.
TEST(FlatView, IsNotForEyesThatLeanOrGroundThatIsNotLevel) {
  const std::string terrain =
      "<element class='elevation_map'><resolution>10</resolution><elevation_data_matrix>[0 1; 0 1]"
      "</elevation_data_matrix></element>";
  const std::string plane = "<element class='horizontal_plane'><z>0.5</z></element>";
  const std::string ramp =
      "<block><init_pose>5 5 0</init_pose><geometry type='ramp' lx='2' ly='1' lz='1'/></block>";
  const std::string intangible = "<block><init_pose>5 5 0</init_pose><intangible>true</intangible></block>";
  const auto is_level = [](const std::string& more, const std::string& sensor) {
    const auto model = drawn_model(more + two_robots(sensor));
    return model->sensors.at(0).level_images.at(0) != 0;
  };
  EXPECT_TRUE(is_level(kFloor, level_camera(0.5)));
  EXPECT_TRUE(is_level("", level_lidar(0.5)));
  EXPECT_TRUE(is_level(std::string(kFloor) + kFloor, level_camera(0.5, "75 0 0")));
  EXPECT_FALSE(is_level(kFloor, level_camera(0.5, "0 1 0"))) << "pitched";
  EXPECT_FALSE(is_level(kFloor, level_camera(0.5, "0 0 1"))) << "rolled";
  EXPECT_FALSE(is_level(terrain, level_camera(0.5)));
  EXPECT_FALSE(is_level(kFloor + plane, level_camera(0.5))) << "floors of two heights";
  EXPECT_FALSE(is_level(kFloor + ramp, level_camera(0.5)));
  EXPECT_FALSE(is_level(kFloor + intangible, level_camera(0.5))) << "robots drive over it";
}

TEST(FlatView, AMomentThatLeansIsDrawnByRays) {
  const Simulation simulation(drawn_model(kFloor + random_blocks(5, 20) + two_robots(level_camera(0.5))), 0);
  BothWays eye(simulation, 0, 0), block(simulation, 0, 0);
  block.lean(frame_of_body(0));
  EXPECT_FALSE(eye.from_plane<float>(ViewContent::kDepth).empty());
  EXPECT_TRUE(block.from_plane<float>(ViewContent::kDepth).empty());
}

TEST(FlatView, EveryInstructionSetGivesTheSameBytes) {
  const Simulation simulation(
      drawn_model(kFloor + random_blocks(9, 40) + two_robots(level_camera(0.5) + level_lidar(0.6))), 0);
  const BothWays camera(simulation, 0, 1), lidar(simulation, 1, 0);
  const auto colors = camera.from_plane<uint8_t>(ViewContent::kColor);
  const auto depth = camera.from_plane<float>(ViewContent::kDepth),
             ranges = lidar.from_plane<float>(ViewContent::kDepth);
  const auto labels = camera.from_plane<uint16_t>(ViewContent::kLabels);
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    EXPECT_EQ(camera.from_plane<uint8_t>(ViewContent::kColor), colors) << target;
    EXPECT_EQ(camera.from_plane<float>(ViewContent::kDepth), depth) << target;
    EXPECT_EQ(camera.from_plane<uint16_t>(ViewContent::kLabels), labels) << target;
    EXPECT_EQ(lidar.from_plane<float>(ViewContent::kDepth), ranges) << target;
  }
}

TEST(FlatView, IsWhatSensorsReadWhateverIsDrawnBeside) {
  const auto model = drawn_model(kFloor + random_blocks(11, 40) + two_robots(level_camera(0.5)));
  const auto& sensor = static_cast<const ViewSensor&>(*model->sensors[0].sensor);
  const size_t bytes = sensor.images()[0].reading.bytes();
  std::vector<std::vector<double>> recipes;
  for (const double turn : {0.0, 0.7, 1.9}) {
    Simulation simulation(model, 0);
    simulation.set_twist(0, 0, turn);
    simulation.run(0.5);
    const std::span<const double> recipe = view_recipe_of(simulation, 0);
    recipes.emplace_back(recipe.begin(), recipe.end());
  }
  std::vector<std::vector<std::byte>> together(recipes.size(), std::vector<std::byte>(bytes));
  std::vector<ViewFrame> frames;
  for (size_t i = 0; i < recipes.size(); ++i)
    frames.push_back({model.get(), recipes[i].data(), together[i].data()});
  draw_views(0, 0, frames);
  for (size_t i = 0; i < recipes.size(); ++i) {
    std::vector<std::byte> alone(bytes);
    const ViewFrame frame{model.get(), recipes[i].data(), alone.data()};
    draw_views(0, 0, {&frame, 1});
    EXPECT_EQ(alone, together[i]) << i;
  }
  EXPECT_NE(together[0], together[1]);
  const Simulation start(model, 0);
  const auto drawn = BothWays(start, 0, 0).from_plane<float>(ViewContent::kDepth);
  const Simulation first(model, 0);
  std::vector<double> recipe(recipes[0].size());
  std::vector<std::byte> read(bytes);
  SimState state = first.state();
  record_view(*model, state, 0, recipe.data());
  const ViewFrame frame{model.get(), recipe.data(), read.data()};
  draw_views(0, 0, {&frame, 1});
  EXPECT_EQ(std::memcmp(read.data(), drawn.data(), bytes), 0);
}

// The numbers of a snapshot may be made up.
TEST(FlatView, DrawsWhateverARecipeSays) {
  const auto model = drawn_model(kFloor + random_blocks(12, 20) + two_robots(level_camera(0.5)));
  const auto& sensor = static_cast<const ViewSensor&>(*model->sensors[0].sensor);
  const Simulation simulation(model, 0);
  std::vector<double> recipe(view_recipe_of(simulation, 0).size());
  SimState state = simulation.state();
  record_view(*model, state, 0, recipe.data());
  Numbers random{std::mt19937(5)};
  const double odd[] = {0, 1, -1, 1e-310, 1e30, -1e300, 1e308, 1e17, HUGE_VAL, std::nan("")};
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> damaged = recipe;
    for (int change = 0; change < 1 + trial % 5; ++change)
      damaged[static_cast<size_t>(random.in(3, static_cast<double>(damaged.size())))] =
          odd[static_cast<size_t>(random.in(0, 10))];
    for (size_t image = 0; image < sensor.images().size(); ++image) {
      std::vector<std::byte> out(sensor.images()[image].reading.bytes());
      const ViewFrame frame{model.get(), damaged.data(), out.data()};
      draw_views(0, image, {&frame, 1});
      if (image > 0) continue;
      const auto* const depth = reinterpret_cast<const float*>(out.data());
      const float least = damaged[kViewRecipeHead] > 0 ? 0 : 0.1F;  // noise goes below the near plane
      for (size_t i = 0; i < out.size() / sizeof(float); ++i)
        ASSERT_TRUE(depth[i] == 0 || (depth[i] >= least && depth[i] <= 30)) << depth[i];
    }
  }
}

}  // namespace
}  // namespace mvsim::test::flat_view_test
