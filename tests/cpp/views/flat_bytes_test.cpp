// The bytes of a view from the plane must not depend on the instruction set or on the other images of a call.
#include <gtest/gtest.h>

#include "assets/png_writer.h"
#include "base/simd.h"
#include "sensor/view_sensor.h"
#include "views/flat_worlds.h"
#include "worldfile/world_text.h"

namespace mvsim::test::flat_bytes_test {
namespace {

// A floor, a wall and blocks with a picture of noise on them, among plain ones.
std::shared_ptr<const Model> painted_world(const std::string& sensors) {
  const TempFolder folder;
  Numbers random{std::mt19937(4)};
  std::string rows;
  for (int y = 0; y < 48; ++y) {
    rows += '\0';
    for (int x = 0; x < 20 * 3; ++x) rows += static_cast<char>(random.source() & 255);
  }
  folder.write("t.png", png(20, 48, 8, kPngRgb, rows));
  const std::string texture =
      "<texture>t.png</texture><texture_size_x>1.5</texture_size_x><texture_size_y>0.8</texture_size_y>";
  std::string more =
      "<element class='horizontal_plane'><x_min>-20</x_min><x_max>20</x_max><y_min>-20</y_min>"
      "<y_max>20</y_max>" +
      texture + "</element>";
  for (const char* block : {"2.5 0.5 20", "4 -1.5 -40"})
    more += "<block><init_pose>" + std::string(block) + "</init_pose><zmax>0.6</zmax>" + texture +
            "<shape><pt>-.5 -.5</pt><pt>.5 -.5</pt><pt>.6 .5</pt><pt>-.5 .4</pt></shape></block>";
  return compile_world(
      load_world_text("<mvsim_world>" + more + random_blocks(31, 30) + two_robots(sensors) + "</mvsim_world>",
                      folder.path(), {}),
      kDrawn);
}

TEST(FlatBytes, TexturesAndIntensitiesAreTheSameOnEveryInstructionSet) {
  const auto model = painted_world(level_camera(0.5) + level_lidar(0.6));
  const Simulation simulation(model, 0);
  const BothWays camera(simulation, 0, 1), lidar(simulation, 1, 1);
  ASSERT_EQ(camera.view().content, ViewContent::kColor);
  ASSERT_EQ(lidar.view().content, ViewContent::kIntensity);
  const auto colors = camera.from_plane<uint8_t>(ViewContent::kColor);
  const auto intensities = lidar.from_plane<float>(ViewContent::kIntensity);
  ASSERT_FALSE(colors.empty());
  ASSERT_FALSE(intensities.empty());
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    EXPECT_EQ(camera.from_plane<uint8_t>(ViewContent::kColor), colors) << target;
    EXPECT_EQ(lidar.from_plane<float>(ViewContent::kIntensity), intensities) << target;
  }
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Depth, colours and labels of one camera come from one drawing where that shows all that each of them
// does; where one begins nearer than another, or ends farther, from their own.
TEST(FlatBytes, ImagesOfOneCameraAreTheSameTogetherAndAlone) {
  const std::string camera = level_camera(0.5), end = "</sensor>";
  const std::string cameras[] = {
      camera,
      with(camera, end, "<depth_clip_min>1.8</depth_clip_min>" + end),  // there are things before that
      with(camera, end, "<rgb_clip_min>1.8</rgb_clip_min>" + end),
      with(camera, end, "<rgb_clip_min>0.5</rgb_clip_min><rgb_clip_max>3</rgb_clip_max>" + end),
  };
  for (const std::string& tested : cameras) {
    const auto model = painted_world(tested);
    const auto& sensor = static_cast<const ViewSensor&>(*model->sensors[0].sensor);
    ASSERT_EQ(sensor.images().size(), 3U);
    const Simulation simulation(model, 0);
    SimState state = simulation.state();
    std::vector<double> recipe(view_recipe_of(simulation, 0).size());
    record_view(*model, state, 0, recipe.data());
    std::vector<std::vector<std::byte>> together, alone;
    std::vector<ViewDrawing> drawings;
    for (size_t image = 0; image < 3; ++image) {
      EXPECT_NE(model->sensors[0].level_images.at(image), 0);
      alone.emplace_back(sensor.images()[image].reading.bytes());
      together.push_back(alone.back());
    }
    for (size_t image = 0; image < 3; ++image) {
      const ViewFrame frame{model.get(), recipe.data(), alone[image].data()};
      draw_views(0, image, {&frame, 1});
      drawings.push_back({0, image, {model.get(), recipe.data(), together[image].data()}});
    }
    draw_views(drawings);
    for (size_t image = 0; image < 3; ++image) EXPECT_EQ(together[image], alone[image]) << tested << image;
    EXPECT_NE(together[0], std::vector<std::byte>(together[0].size()));
  }
}

// Walls are drawn where they were compiled, so no picture keeps where they stand.
TEST(FlatBytes, RecipesHoldThePosesOfWhatMoves) {
  const auto model = drawn_model(kFloor + random_blocks(5, 30) + two_robots(level_camera(0.5)));
  size_t moving = 0;
  for (const BlockModel& block : model->blocks) {
    const int place = model->recipe_frames.place[frame_of_body(static_cast<size_t>(block.body))];
    EXPECT_EQ(place < 0, block.traits.is_static) << block.name;
    if (!block.traits.is_static) ++moving;
  }
  EXPECT_EQ(moving, 10U);
  const size_t vehicles_and_wheels = 2 + model->wheel_count;
  EXPECT_EQ(model->recipe_frames.frames.size(), moving + vehicles_and_wheels);
  EXPECT_EQ(model->recipe_frames.blocks.size(), moving);
  const Simulation simulation(model, 0);
  std::vector<ScenePose> all, kept;
  scene_poses(simulation, all);
  recipe_poses(simulation, kept);
  for (size_t i = 0; i < kept.size(); ++i) {
    const ScenePose& pose = all[model->recipe_frames.frames[i]];
    EXPECT_EQ(kept[i].scale, pose.scale);
    EXPECT_EQ(kept[i].T_world_frame.origin, pose.T_world_frame.origin);
    EXPECT_EQ(kept[i].T_world_frame.x, pose.T_world_frame.x);
  }
}

}  // namespace
}  // namespace mvsim::test::flat_bytes_test
