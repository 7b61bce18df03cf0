// Real pictures; skipped where the machine cannot draw.
#include "render/pictures/renderer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "base/random.h"
#include "render/gl/device_choice.h"

namespace mvsim::renderer_test {
namespace {

constexpr int kWidth = 160, kHeight = 120;
constexpr Color kRed{230, 20, 20, 255}, kGreen{20, 200, 20, 255}, kBlue{20, 20, 230, 255};

struct Thing {
  Polygon outline;
  double z_min = 0, z_max = 1;
  Pose3 pose;
  Color color;
};

struct Drawable {
  std::shared_ptr<const Scene> scene;
  std::vector<ScenePose> poses;
  Marks marks;

  Image draw(Renderer& renderer, const Camera& camera, int width = kWidth, int height = kHeight) const {
    return renderer.draw(scene, poses, marks, camera, width, height);
  }
};

// Prisms that stand fast, prisms and wheels that move, on a floor or on the one that a bare world gets.
struct TestScene {
  bool floor = false;
  std::vector<Thing> fixed, prisms;
  std::vector<std::pair<Pose3, WheelShape>> wheels;
  Marks marks;
  Rect bounds;

  Drawable compiled() const {
    auto scene = std::make_shared<Scene>();
    scene->bounds = bounds;
    std::vector<ScenePose> poses(1);
    const auto add = [&](Shape shape, const Material& material, uint32_t frame, const Pose3& pose) {
      scene->shapes.push_back(std::move(shape));
      scene->materials.push_back(material);
      scene->instances.push_back({static_cast<uint32_t>(scene->shapes.size() - 1),
                                  static_cast<uint32_t>(scene->materials.size() - 1), frame, Frame3(pose),
                                  0});
    };
    const auto frame = [&](const Pose3& pose) {
      poses.push_back({Frame3(pose), 1});
      return scene->frame_count++;
    };
    if (floor) add(LevelRect{}, {.color = {0xd9, 0xdc, 0xdf, 255}, .casts_shadow = false}, kWorldFrame, {});
    for (const Thing& t : fixed)
      add(Prism{t.outline, t.z_min, t.z_max}, {.color = t.color}, kWorldFrame, t.pose);
    for (const Thing& t : prisms)
      add(Prism{t.outline, t.z_min, t.z_max}, {.color = t.color}, frame(t.pose), {});
    for (const auto& [pose, wheel] : wheels) add(wheel, {.color = {50, 50, 50, 255}}, frame(pose), {});
    return {scene, poses, marks};
  }
};

class RendererTest : public testing::Test {
 protected:
  void SetUp() override {
    const EglInfo info = egl_info();
    if (info.renderer.empty()) GTEST_SKIP() << "no pictures on this machine: " << info.problems.at(0);
    renderer_ = std::make_unique<Renderer>();
  }
  Image draw(const TestScene& scene, const Camera& camera, int width = kWidth, int height = kHeight) {
    return scene.compiled().draw(*renderer_, camera, width, height);
  }
  std::unique_ptr<Renderer> renderer_;
};

Thing box(double x, double y, double size, Color color) {
  return {box_polygon(size, size), 0, size, {x, y, 0, 0, 0, 0}, color};
}

TestScene on_floor() {
  TestScene scene;
  scene.floor = true;
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
    int max = 0;
    for (size_t k = i; k < i + 3; ++k) max = std::max(max, std::abs(a.data[k] - b.data[k]));
    count += max > 8;
  }
  return count;
}

TEST_F(RendererTest, RedBoxInTheMiddleIsRedInTheMiddle) {
  TestScene scene = on_floor();
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
  TestScene scene = on_floor();
  scene.prisms = {box(2, 0, 0.5, kRed), box(0, 2, 0.5, kGreen)};
  const Image image = draw(scene, kAbove);
  const Vec2 red = centroid(image, is_red), green = centroid(image, is_green);
  EXPECT_GT(red.x, kWidth / 2 + 20) << "+x to the right";
  EXPECT_NEAR(red.y, kHeight / 2, 3);
  EXPECT_LT(green.y, kHeight / 2 - 20) << "+y upwards, row 0 at the top";
  EXPECT_NEAR(green.x, kWidth / 2, 3);
}

TEST_F(RendererTest, NearerThingsHideFartherOnes) {
  TestScene scene = on_floor();
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
  TestScene scene = on_floor();
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
      TestScene scene = on_floor();
      scene.marks.goal = RingMark{place, 0, 0.3, {}};
      const Vec2 expected = *project(camera, place, kWidth, kHeight),
                 seen = centroid(draw(scene, camera), is_green);
      EXPECT_NEAR(seen.x, expected.x, 0.7);
      EXPECT_NEAR(seen.y, expected.y, 0.7);
    }
}

TEST_F(RendererTest, SamePictureTwiceIsBitEqual) {
  TestScene scene = on_floor(), other = on_floor();
  scene.prisms = {box(1, 1, 0.7, kRed), box(-1, 0.3, 0.4, kBlue)};
  scene.wheels.push_back({{0, -1, 0.3, 0.4, 0.5, 0}, {0.3, 0.1}});
  scene.marks.ropes = {{{{-3, -2, 0.01}, {0, 0, 0.01}}}, {{{0, 0, 0.01}, {3, -2, 0.01}}}};
  other.prisms.push_back(box(0, 0, 2, kGreen));
  const Image first = draw(scene, kAbove);
  draw(other, view_from_behind({}, 2, 1));
  draw(other, kAbove, 33, 77);
  EXPECT_EQ(draw(scene, kAbove).data, first.data) << "whatever was drawn in between";
  Renderer another;
  EXPECT_EQ(scene.compiled().draw(another, kAbove).data, first.data) << "another renderer";
  Image elsewhere;
  std::thread([&] { elsewhere = draw(scene, kAbove); }).join();
  EXPECT_EQ(elsewhere.data, first.data) << "another thread";
}

TEST_F(RendererTest, AnySizeWorks) {
  TestScene scene = on_floor();
  scene.prisms.push_back(box(0, 0, 1, kRed));
  for (const auto& [width, height] : {std::pair{31, 17}, {640, 480}, {16, 300}, {160, 120}}) {
    const Image image = draw(scene, kAbove, width, height);
    EXPECT_EQ(image.data.size(), size_t(width) * height * 3);
    EXPECT_TRUE(is_red(rgb(image, {width / 2.0, height / 2.0})));
  }
  EXPECT_EQ(draw(scene, kAbove, 1, 1).data.size(), 3U);
}

TEST_F(RendererTest, RefusesBadRequests) {
  for (const auto& [width, height] : {std::pair{0, 10}, {10, -1}, {100000, 1}, {8192, 8192}})
    EXPECT_THROW(draw({}, kAbove, width, height), Error);
  Camera camera;
  camera.eye.x = NAN;
  EXPECT_THROW(draw({}, camera), Error);
  camera = {};
  camera.vertical_fov = 0;
  EXPECT_THROW(draw({}, camera), Error);
  camera = {};
  camera.nearest = 0;
  EXPECT_THROW(draw({}, camera), Error);
  Drawable short_of_poses = on_floor().compiled();
  short_of_poses.poses.clear();
  EXPECT_THROW(short_of_poses.draw(*renderer_, kAbove), Error);
  EXPECT_NO_THROW(draw({}, kAbove)) << "an empty scene, after errors";
  RenderOptions options;
  options.samples = 3;
  EXPECT_THROW(Renderer{options}, Error);
}

TEST_F(RendererTest, ThingsThrowShadowsOnTheFloor) {
  TestScene scene = on_floor();
  const Image bare = draw(scene, kAbove);
  scene.prisms.push_back(box(0, 0, 1, kRed));
  const Image shadowed = draw(scene, kAbove);
  const Vec2 lower_right = *project(kAbove, {0.8, -0.7, 0}, kWidth, kHeight);
  const Vec2 upper_left = *project(kAbove, {-0.9, 0.9, 0}, kWidth, kHeight);
  EXPECT_LT(brightness(rgb(shadowed, lower_right)), brightness(rgb(bare, lower_right)) - 60);
  EXPECT_NEAR(brightness(rgb(shadowed, upper_left)), brightness(rgb(bare, upper_left)), 3);
  RenderOptions options;
  options.shadows = false;
  Renderer without(options);
  EXPECT_NEAR(brightness(rgb(scene.compiled().draw(without, kAbove), lower_right)),
              brightness(rgb(bare, lower_right)), 3);
}

TEST_F(RendererTest, StaticAndMovingLookTheSame) {
  TestScene moving = on_floor(), fixed = on_floor();
  const Thing thing = box(0.4, 0.2, 1, kRed);
  moving.prisms.push_back(thing);
  fixed.fixed.push_back(thing);
  EXPECT_LE(changed_pixels(draw(moving, kAbove), draw(fixed, kAbove)), 30);
}

TEST_F(RendererTest, AnUploadedSceneMovesByItsPoses) {
  TestScene scene = on_floor();
  scene.prisms = {box(0, 0, 1, kRed), box(0, 0, 0.5, kBlue)};
  Drawable drawable = scene.compiled();
  drawable.draw(*renderer_, kAbove);
  drawable.poses[1].T_world_frame = Frame3(Pose3{1, -1, 0, 0.4, 0, 0});
  drawable.poses[2].T_world_frame = Frame3(Pose3{-2, 1, 0.3, 0, 0.3, 0.2});
  scene.prisms[0].pose = {1, -1, 0, 0.4, 0, 0};
  scene.prisms[1].pose = {-2, 1, 0.3, 0, 0.3, 0.2};
  EXPECT_EQ(drawable.draw(*renderer_, kAbove).data, draw(scene, kAbove).data);
}

TEST_F(RendererTest, AScaledFrameIsWiderAndAsHigh) {
  TestScene scene = on_floor(), wide = on_floor();
  const Polygon outline{{0.5, 0}, {0, 0.4}, {-0.5, 0}, {0, -0.4}};
  scene.prisms = {{outline, 0, 1, {0.3, 0.2, 0, 0.6, 0, 0}, kRed}};
  wide.prisms = {{{{1, 0}, {0, 0.8}, {-1, 0}, {0, -0.8}}, 0, 1, {0.3, 0.2, 0, 0.6, 0, 0}, kRed}};
  Drawable drawable = scene.compiled();
  drawable.poses[1].scale = 2;
  const Camera camera = view_from_above({-4, 4, -3, 3}, 4.0 / 3, 0.6, 1);
  EXPECT_LE(changed_pixels(drawable.draw(*renderer_, camera), draw(wide, camera)), 3);
}

TEST_F(RendererTest, EqualThingsAreDrawnAtEachOfTheirPlaces) {
  TestScene scene = on_floor();
  scene.prisms = {box(-2, -1, 0.6, kRed), box(-2, -1, 0.6, kRed)};
  Drawable drawable = scene.compiled();
  auto shared = std::make_shared<Scene>(*drawable.scene);
  shared->instances[2].shape = shared->instances[1].shape;
  shared->instances[2].material = shared->instances[1].material;
  drawable.scene = shared;
  drawable.poses[2].T_world_frame = Frame3(Pose3{2, 1, 0, 0, 0, 0});
  const Image image = drawable.draw(*renderer_, kAbove);
  for (const Vec3 place : {Vec3{-2, -1, 0.6}, Vec3{2, 1, 0.6}})
    EXPECT_TRUE(is_red(rgb(image, *project(kAbove, place, kWidth, kHeight))));
}

TEST_F(RendererTest, TexturesLieTheRightWayRound) {
  for (const bool moves : {false, true}) {
    auto scene = std::make_shared<Scene>();
    Mesh sign;  // stands on its lower edge, seen from -y
    sign.positions = {{-1, 0, 0}, {1, 0, 0}, {1, 0, 2}, {-1, 0, 2}};
    sign.normals.assign(4, {0, -1, 0});
    sign.uvs = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    sign.indices = {0, 1, 2, 0, 2, 3};
    scene->shapes = {std::make_shared<const Mesh>(sign)};
    ColorImage texture{2, 2, {}};
    for (const Color c : {kRed, kGreen, kBlue, Color{}})  // upper row, lower row
      texture.rgba.insert(texture.rgba.end(), {c.r, c.g, c.b, c.a});
    scene->textures = {std::make_shared<const ColorImage>(texture)};
    scene->materials = {{.texture = 0}};
    scene->instances = {{0, 0, moves ? 1U : kWorldFrame, {}, 1}};
    scene->frame_count = 2;
    const Drawable drawable{scene, std::vector<ScenePose>(2), {}};
    const Camera camera{{0, -4, 1}, {0, 0, 1}, {0, 0, 1}, 0.6};
    const Image image = drawable.draw(*renderer_, camera);
    const auto seen = [&](double x, double z) {
      return rgb(image, *project(camera, {x, 0, z}, kWidth, kHeight));
    };
    EXPECT_TRUE(is_red(seen(-0.5, 1.5)));
    EXPECT_TRUE(is_green(seen(0.5, 1.5)));
    EXPECT_TRUE(is_blue(seen(-0.5, 0.5)));
    EXPECT_GT(brightness(seen(0.5, 0.5)), brightness(seen(-0.5, 0.5)) + 60);
  }
}

TEST_F(RendererTest, FarFromTheOriginNothingShivers) {
  const auto scene_at = [](double x) {
    TestScene scene;
    scene.bounds = {x - 4, x + 4, -3, 3};
    scene.fixed.push_back(box(x, 0, 1, kRed));
    scene.prisms.push_back(box(x + 1.5, 0.5, 0.5, kBlue));
    return scene;
  };
  constexpr double kFar = 4096;
  const Image near = draw(scene_at(0), view_from_above({-4, 4, -3, 3}, 4.0 / 3, 0.5));
  const Image far = draw(scene_at(kFar), view_from_above({kFar - 4, kFar + 4, -3, 3}, 4.0 / 3, 0.5));
  EXPECT_LE(changed_pixels(near, far), 30);
}

TEST_F(RendererTest, ManyScenesTakeTurns) {
  std::vector<Drawable> scenes;
  std::vector<Image> first;
  for (int i = 0; i < 7; ++i) {
    TestScene scene;
    scene.fixed.push_back(box(i - 3, 0, 0.7, kRed));
    scenes.push_back(scene.compiled());
    first.push_back(scenes.back().draw(*renderer_, kAbove));
  }
  for (size_t i = 0; i < scenes.size(); ++i)
    EXPECT_EQ(scenes[i].draw(*renderer_, kAbove).data, first[i].data);
}

TEST_F(RendererTest, GridsShowWallsFloorAndTheUnknown) {
  const uint8_t cells[] = {uint8_t(Cell::kUnknown), uint8_t(Cell::kFree), uint8_t(Cell::kOccupied)};
  const GridField field(cells, 3, 1, 2);
  auto scene = std::make_shared<Scene>();
  scene->shapes = {GridCells{&field, GridCells::kFreeFloor}, GridCells{&field, GridCells::kUnknownFloor},
                   GridCells{&field, GridCells::kWalls, 0.2}};
  scene->materials = {{.color = {0xe6, 0xe8, 0xea, 255}, .casts_shadow = false},
                      {.color = {0xb4, 0xb9, 0xbf, 255}, .casts_shadow = false},
                      {.color = kRed}};
  for (uint32_t i = 0; i < 3; ++i)
    scene->instances.push_back({i, i, kWorldFrame, Frame3(Pose3{-3, -1, 0, 0, 0, 0}), 1});
  const Image image = Drawable{scene, std::vector<ScenePose>(1), {}}.draw(*renderer_, kAbove);
  const auto seen = [&](double x) { return rgb(image, *project(kAbove, {x, 0, 0}, kWidth, kHeight)); };
  EXPECT_TRUE(is_red(seen(2)));
  EXPECT_GT(brightness(seen(0)), brightness(seen(-2)) + 60);
}

TEST_F(RendererTest, RingsAreOpenAndTransparentThingsShowWhatIsBehind) {
  TestScene scene = on_floor();
  scene.marks.goal = RingMark{{0, 0, 0}, 0.8, 1.2, {}};
  EXPECT_FALSE(is_green(rgb(draw(scene, kAbove), {kWidth / 2, kHeight / 2})));
  EXPECT_TRUE(is_green(rgb(draw(scene, kAbove), *project(kAbove, {1, 0, 0}, kWidth, kHeight))));
  scene.prisms.push_back({box_polygon(6, 6), 0.5, 0.6, {}, {255, 255, 255, 60}});
  const auto veiled = rgb(draw(scene, kAbove), *project(kAbove, {1, 0, 0}, kWidth, kHeight));
  EXPECT_GT(veiled[1], veiled[0] + 20);
}

TEST_F(RendererTest, DivergedPosesAreDrawnWithoutHarm) {
  TestScene scene = on_floor();
  scene.prisms = {box(NAN, 0, 1, kRed), box(INFINITY, 0, 1, kRed), box(0, 0, 1e300, kRed)};
  scene.marks.ropes = {{{{NAN, 0, 0}, {INFINITY, 0, 0}}}, {{{INFINITY, 0, 0}, {1e300, 0, 0}}}};
  scene.marks.hits = {{NAN, 0, 0}};
  EXPECT_NO_THROW(draw(scene, kAbove));
}

}  // namespace
}  // namespace mvsim::renderer_test
