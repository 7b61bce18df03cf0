// Real pictures; skipped where the machine cannot draw.
#include "render/renderer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "render/egl_info.h"

namespace mvsim {
namespace {

constexpr int kWidth = 160, kHeight = 120;
constexpr Color kRed{230, 20, 20, 255}, kGreen{20, 200, 20, 255}, kBlue{20, 20, 230, 255};

class RendererTest : public testing::Test {
 protected:
  void SetUp() override {
    const EglInfo info = egl_info();
    if (info.renderer.empty()) GTEST_SKIP() << "no pictures on this machine: " << info.problems.at(0);
    renderer_ = std::make_unique<Renderer>();
  }
  Image draw(const DrawScene& scene, const Camera& camera) {
    return renderer_->draw(scene, camera, kWidth, kHeight);
  }
  std::unique_ptr<Renderer> renderer_;
};

Prism box(double x, double y, double size, Color color) {
  return {box_polygon(size, size), 0, size, {x, y, 0, 0, 0, 0}, color};
}

DrawScene on_floor() {
  auto fixed = std::make_shared<StaticScene>();
  Ground ground;
  ground.grid_interval = 0;
  fixed->grounds.push_back(ground);
  DrawScene scene;
  scene.fixed = fixed;
  return scene;
}

const Camera kAbove = view_from_above({-4, 4, -3, 3}, 4.0 / 3);

std::array<int, 3> rgb(const Image& image, Vec2 pixel) {
  const int row = static_cast<int>(pixel.y), column = static_cast<int>(pixel.x);
  return {image.at(row, column, 0), image.at(row, column, 1), image.at(row, column, 2)};
}
bool is_red(std::array<int, 3> c) {
  return c[0] > 2 * c[1] && c[0] > 2 * c[2] && c[0] > 80;
}
bool is_green(std::array<int, 3> c) {
  return c[1] > 2 * c[0] && c[1] > 2 * c[2] && c[1] > 80;
}
bool is_blue(std::array<int, 3> c) {
  return c[2] > 2 * c[0] && c[2] > 2 * c[1] && c[2] > 80;
}
int brightness(std::array<int, 3> c) {
  return c[0] + c[1] + c[2];
}

// Mean place of the pixels that satisfy `wanted`.
Vec2 centroid(const Image& image, bool (*wanted)(std::array<int, 3>), int* count = nullptr) {
  Vec2 sum;
  int n = 0;
  for (int row = 0; row < image.height; ++row)
    for (int column = 0; column < image.width; ++column)
      if (wanted(rgb(image, {double(column), double(row)}))) {
        sum = sum + Vec2{column + 0.5, row + 0.5};
        ++n;
      }
  if (count) *count = n;
  return (1.0 / std::max(n, 1)) * sum;
}

// Pixels that differ visibly: rounding may move an edge by a sample.
int changed_pixels(const Image& a, const Image& b) {
  int count = 0;
  for (size_t i = 0; i < a.data.size(); i += 3) {
    int most = 0;
    for (size_t k = i; k < i + 3; ++k) most = std::max(most, std::abs(a.data[k] - b.data[k]));
    count += most > 8;
  }
  return count;
}

TEST_F(RendererTest, RedBoxInTheMiddleIsRedInTheMiddle) {
  DrawScene scene = on_floor();
  scene.prisms.push_back(box(0, 0, 1, kRed));
  const Image image = draw(scene, kAbove);
  ASSERT_EQ(image.width, kWidth);
  ASSERT_EQ(image.height, kHeight);
  ASSERT_EQ(image.channels, 3);
  ASSERT_EQ(image.data.size(), size_t{kWidth} * kHeight * 3);
  EXPECT_TRUE(is_red(rgb(image, {kWidth / 2, kHeight / 2})));
  EXPECT_FALSE(is_red(rgb(image, {10, 10})));
}

TEST_F(RendererTest, RowsAndColumnsRunAsTheCameraSays) {
  DrawScene scene = on_floor();
  scene.prisms = {box(2, 0, 0.5, kRed), box(0, 2, 0.5, kGreen)};
  const Image image = draw(scene, kAbove);
  const Vec2 red = centroid(image, is_red), green = centroid(image, is_green);
  EXPECT_GT(red.x, kWidth / 2 + 20) << "+x to the right";
  EXPECT_NEAR(red.y, kHeight / 2, 3);
  EXPECT_LT(green.y, kHeight / 2 - 20) << "+y upwards, row 0 at the top";
  EXPECT_NEAR(green.x, kWidth / 2, 3);
}

TEST_F(RendererTest, NearerThingsHideFartherOnes) {
  DrawScene scene = on_floor();
  scene.prisms = {box(0, 0, 1, kRed), box(2.5, 0, 1, kBlue)};
  Camera camera{{-6, 0, 0.5}, {0, 0, 0.5}, {0, 0, 1}, 0.5};
  int blue = 0;
  centroid(draw(scene, camera), is_blue, &blue);
  EXPECT_EQ(blue, 0);
  EXPECT_TRUE(is_red(rgb(draw(scene, camera), {kWidth / 2, kHeight / 2})));
  camera.eye.x = 8;  // and from the other side, drawn in the same order
  EXPECT_TRUE(is_blue(rgb(draw(scene, camera), {kWidth / 2, kHeight / 2})));
}

TEST_F(RendererTest, WallsBehindARobotDoNotHideItFromTheViewBehind) {
  DrawScene scene = on_floor();
  scene.prisms = {box(0, 0, 0.2, kRed), {box_polygon(0.05, 4), 0, 2, {-0.6, 0, 0, 0, 0, 0}, kBlue}};
  const Camera camera = view_from_behind({}, 1, 0.6);
  EXPECT_TRUE(is_red(rgb(draw(scene, camera), *project(camera, {0, 0, 0.1}, kWidth, kHeight))));
  scene.prisms[1].pose.x = 0.5;
  EXPECT_TRUE(is_blue(rgb(draw(scene, camera), {kWidth / 2, kHeight / 4}))) << "walls ahead stay";
}

TEST_F(RendererTest, PicturesAgreeWithProject) {
  RandomStream random(5, 0, StreamPurpose::kGoal);
  const Camera cameras[] = {
      kAbove, view_from_above({-4, 4, -3, 3}, 4.0 / 3, 0.8, 1), {{-7, -5, 4}, {0, 0, 0}, {0, 0, 1}, 0.9}};
  for (const Camera& camera : cameras)
    for (int i = 0; i < 10; ++i) {
      const Vec3 place{random.uniform() * 6 - 3, random.uniform() * 4 - 2, 0};
      DrawScene scene = on_floor();
      scene.discs.push_back({place, 0, 0.3, kRed});
      const Vec2 expected = *project(camera, place, kWidth, kHeight),
                 seen = centroid(draw(scene, camera), is_red);
      EXPECT_NEAR(seen.x, expected.x, 0.7);
      EXPECT_NEAR(seen.y, expected.y, 0.7);
    }
}

TEST_F(RendererTest, SamePictureTwiceIsBitEqual) {
  DrawScene scene = on_floor(), other = on_floor();
  scene.prisms = {box(1, 1, 0.7, kRed), box(-1, 0.3, 0.4, kBlue)};
  scene.wheels.push_back({{0, -1, 0.3, 0.4, 0, 0}, 0.3, 0.1, 0.5, {50, 50, 50, 255}});
  scene.polylines.push_back({{{-3, -2, 0.01}, {0, 0, 0.01}, {3, -2, 0.01}}, false, {0, 0, 255, 120}, 0.02});
  other.prisms.push_back(box(0, 0, 2, kGreen));
  const Image first = draw(scene, kAbove);
  draw(other, view_from_behind({}, 2, 1));
  renderer_->draw(other, kAbove, 33, 77);
  EXPECT_EQ(draw(scene, kAbove).data, first.data) << "whatever was drawn in between";
  EXPECT_EQ(Renderer().draw(scene, kAbove, kWidth, kHeight).data, first.data) << "another renderer";
  Image elsewhere;
  std::thread([&] { elsewhere = draw(scene, kAbove); }).join();
  EXPECT_EQ(elsewhere.data, first.data) << "another thread";
}

TEST_F(RendererTest, AnySizeWorks) {
  DrawScene scene = on_floor();
  scene.prisms.push_back(box(0, 0, 1, kRed));
  for (const auto& [width, height] : {std::pair{31, 17}, {640, 480}, {16, 300}, {160, 120}}) {
    const Image image = renderer_->draw(scene, kAbove, width, height);
    EXPECT_EQ(image.data.size(), size_t(width) * height * 3);
    EXPECT_TRUE(is_red(rgb(image, {width / 2.0, height / 2.0})));
  }
  EXPECT_EQ(renderer_->draw(scene, kAbove, 1, 1).data.size(), 3U);
}

TEST_F(RendererTest, RefusesBadRequests) {
  for (const auto& [width, height] : {std::pair{0, 10}, {10, -1}, {100000, 1}, {8192, 8192}})
    EXPECT_THROW(renderer_->draw({}, kAbove, width, height), Error);
  Camera camera;
  camera.eye.x = NAN;
  EXPECT_THROW(draw({}, camera), Error);
  camera = {};
  camera.vertical_fov = 0;
  EXPECT_THROW(draw({}, camera), Error);
  camera = {};
  camera.nearest = 0;
  EXPECT_THROW(draw({}, camera), Error);
  EXPECT_NO_THROW(draw({}, kAbove)) << "an empty scene, after errors";
  RenderOptions options;
  options.samples = 3;
  EXPECT_THROW(Renderer{options}, Error);
}

TEST_F(RendererTest, ThingsThrowShadowsOnTheFloor) {
  DrawScene scene = on_floor();
  const Image bare = draw(scene, kAbove);
  scene.prisms.push_back(box(0, 0, 1, kRed));
  const Image shadowed = draw(scene, kAbove);
  const Vec2 lower_right = *project(kAbove, {0.8, -0.7, 0}, kWidth, kHeight);
  const Vec2 upper_left = *project(kAbove, {-0.9, 0.9, 0}, kWidth, kHeight);
  EXPECT_LT(brightness(rgb(shadowed, lower_right)), brightness(rgb(bare, lower_right)) - 60);
  EXPECT_NEAR(brightness(rgb(shadowed, upper_left)), brightness(rgb(bare, upper_left)), 3);
  RenderOptions options;
  options.shadows = false;
  EXPECT_NEAR(brightness(rgb(Renderer(options).draw(scene, kAbove, kWidth, kHeight), lower_right)),
              brightness(rgb(bare, lower_right)), 3);
}

TEST_F(RendererTest, StaticAndMovingLookTheSame) {
  DrawScene moving = on_floor(), fixed = on_floor();
  const Prism thing = box(0.4, 0.2, 1, kRed);
  moving.prisms.push_back(thing);
  auto with_thing = std::make_shared<StaticScene>(*fixed.fixed);
  with_thing->prisms.push_back(thing);
  fixed.fixed = with_thing;
  EXPECT_LE(changed_pixels(draw(moving, kAbove), draw(fixed, kAbove)), 30);
}

TEST_F(RendererTest, FarFromTheOriginNothingShivers) {
  const auto scene_at = [](double x) {
    auto fixed = std::make_shared<StaticScene>();
    fixed->prisms.push_back(box(x, 0, 1, kRed));
    DrawScene scene;
    scene.fixed = fixed;
    scene.prisms.push_back(box(x + 1.5, 0.5, 0.5, kBlue));
    return scene;
  };
  constexpr double kFar = 4096;
  const Image near = draw(scene_at(0), view_from_above({-4, 4, -3, 3}, 4.0 / 3, 0.5));
  const Image far = draw(scene_at(kFar), view_from_above({kFar - 4, kFar + 4, -3, 3}, 4.0 / 3, 0.5));
  EXPECT_LE(changed_pixels(near, far), 30);
}

TEST_F(RendererTest, ManyStaticScenesTakeTurns) {
  std::vector<DrawScene> scenes;
  std::vector<Image> first;
  for (int i = 0; i < 7; ++i) {
    auto fixed = std::make_shared<StaticScene>();
    fixed->prisms.push_back(box(i - 3, 0, 0.7, kRed));
    scenes.emplace_back().fixed = fixed;
    first.push_back(draw(scenes.back(), kAbove));
  }
  for (size_t i = 0; i < scenes.size(); ++i) EXPECT_EQ(draw(scenes[i], kAbove).data, first[i].data);
}

TEST_F(RendererTest, GridsShowWallsFloorAndTheUnknown) {
  auto fixed = std::make_shared<StaticScene>();
  GridCells grid{3, 1, {kUnknownCell, kFreeCell, kOccupiedCell}, 2, {-3, -1, 0}};
  grid.wall_color = kRed;
  grid.wall_height = 0.2;
  fixed->grids.push_back(grid);
  DrawScene scene;
  scene.fixed = fixed;
  const Image image = draw(scene, kAbove);
  const auto seen = [&](double x) { return rgb(image, *project(kAbove, {x, 0, 0}, kWidth, kHeight)); };
  EXPECT_TRUE(is_red(seen(2)));
  EXPECT_GT(brightness(seen(0)), brightness(seen(-2)) + 60);
}

TEST_F(RendererTest, RingsAreOpenAndTransparentThingsShowWhatIsBehind) {
  DrawScene scene = on_floor();
  scene.discs.push_back({{0, 0, 0}, 0.8, 1.2, kGreen});
  EXPECT_FALSE(is_green(rgb(draw(scene, kAbove), {kWidth / 2, kHeight / 2})));
  EXPECT_TRUE(is_green(rgb(draw(scene, kAbove), *project(kAbove, {1, 0, 0}, kWidth, kHeight))));
  scene.prisms.push_back({box_polygon(6, 6), 0.5, 0.6, {}, {255, 255, 255, 60}});
  const auto veiled = rgb(draw(scene, kAbove), *project(kAbove, {1, 0, 0}, kWidth, kHeight));
  EXPECT_GT(veiled[1], veiled[0] + 20);
}

TEST_F(RendererTest, DivergedPosesAreDrawnWithoutHarm) {
  DrawScene scene = on_floor();
  scene.prisms = {box(NAN, 0, 1, kRed), box(INFINITY, 0, 1, kRed), box(0, 0, 1e300, kRed)};
  scene.polylines.push_back({{{NAN, 0, 0}, {INFINITY, 0, 0}, {1e300, 0, 0}}, true, kRed, 0.1});
  scene.spheres.push_back({{{NAN, 0, 0}}, 0.1, kRed});
  EXPECT_NO_THROW(draw(scene, kAbove));
}

TEST_F(RendererTest, SoftwareIsAnnouncedAndCanBeAskedFor) {
  RenderOptions options;
  options.device = "software";
  try {
    const Renderer software(options);
    EXPECT_NE(software.notice().find(software.renderer_name()), std::string::npos);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("libgl1-mesa-dri"), std::string::npos) << "no Mesa here";
  }
  options.device = "97";
  EXPECT_THROW(Renderer{options}, Error);
}

TEST_F(RendererTest, ArgumentWinsOverEnvironment) {
  const char* before = std::getenv("MVSIM_EGL_DEVICE");
  const std::string own = before ? before : "";
  setenv("MVSIM_EGL_DEVICE", "97", 1);
  EXPECT_THROW(Renderer(), Error);
  RenderOptions options;
  options.device = "auto";
  EXPECT_NO_THROW(Renderer{options});
  own.empty() ? unsetenv("MVSIM_EGL_DEVICE") : setenv("MVSIM_EGL_DEVICE", own.c_str(), 1);
}

TEST_F(RendererTest, ForkedChildIsRefusedAndLeavesTheParentWhole) {
  DrawScene scene = on_floor();
  const Image before = draw(scene, kAbove);
  const pid_t child = fork();
  if (child == 0) {
    int verdict = 1;
    try {
      draw(scene, kAbove);
    } catch (const ForkedProcessError&) {
      verdict = 0;
    } catch (...) {
    }
    renderer_.reset();  // must not touch the driver
    _exit(verdict);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(draw(scene, kAbove).data, before.data);
}

// What lives until the process ends, as an environment that nobody closed does.
std::unique_ptr<Renderer>& lives_to_the_end() {
  static std::unique_ptr<Renderer> renderer;
  return renderer;
}

TEST_F(RendererTest, ProcessEndsCleanlyWithALiveRenderer) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        lives_to_the_end() = std::make_unique<Renderer>();
        lives_to_the_end()->draw(on_floor(), kAbove, kWidth, kHeight);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(EglInfo, TellsWhatWorksOrWhatToDo) {
  const EglInfo info = egl_info();
  if (info.renderer.empty()) {
    ASSERT_FALSE(info.problems.empty());
    EXPECT_NE(info.problems[0].find("apt-get install"), std::string::npos);
  } else {
    EXPECT_TRUE(info.library_found);
    EXPECT_FALSE(info.chosen.empty());
    EXPECT_FALSE(info.version.empty());
  }
}

}  // namespace
}  // namespace mvsim
