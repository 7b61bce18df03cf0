// Effects of a renderer on its process: devices and the environment, forks, the end. Skipped where the
// machine cannot draw.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "render/gl/device_choice.h"
#include "render/pictures/renderer.h"

namespace mvsim::renderer_process_test {
namespace {

class RendererProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    const EglInfo info = egl_info();
    if (info.renderer.empty()) GTEST_SKIP() << "no pictures on this machine: " << info.problems.at(0);
  }
};

Image draw_floor(Renderer& renderer) {
  const auto scene = std::make_shared<Scene>();
  scene->shapes.push_back(LevelRect{});
  scene->materials.push_back({.color = {0xd9, 0xdc, 0xdf, 255}, .casts_shadow = false});
  scene->instances.push_back({0, 0, kWorldFrame, Frame3(Pose3{}), 0});
  const std::vector<ScenePose> poses(1);
  return renderer.draw(scene, poses, Marks{}, view_from_above({-4, 4, -3, 3}, 4.0 / 3), 160, 120);
}

TEST_F(RendererProcessTest, SoftwareIsAnnouncedAndCanBeAskedFor) {
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

TEST_F(RendererProcessTest, ArgumentWinsOverEnvironment) {
  const char* before = std::getenv("MVSIM_EGL_DEVICE");
  const std::string own = before ? before : "";
  setenv("MVSIM_EGL_DEVICE", "97", 1);
  EXPECT_THROW(Renderer(), Error);
  RenderOptions options;
  options.device = "auto";
  EXPECT_NO_THROW(Renderer{options});
  own.empty() ? unsetenv("MVSIM_EGL_DEVICE") : setenv("MVSIM_EGL_DEVICE", own.c_str(), 1);
}

TEST_F(RendererProcessTest, ForkedChildIsRefusedAndLeavesTheParentWhole) {
  auto renderer = std::make_unique<Renderer>();
  const Image before = draw_floor(*renderer);
  const pid_t child = fork();
  if (child == 0) {
    int verdict = 1;
    try {
      draw_floor(*renderer);
    } catch (const ForkedProcessError&) {
      verdict = 0;
    } catch (...) {
    }
    renderer.reset();  // must not touch the driver
    _exit(verdict);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(draw_floor(*renderer).data, before.data);
}

// A renderer that lives until the process ends, like that of an environment that was not closed.
std::unique_ptr<Renderer>& lives_to_the_end() {
  static std::unique_ptr<Renderer> renderer;
  return renderer;
}

TEST_F(RendererProcessTest, ProcessEndsCleanlyWithALiveRenderer) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        lives_to_the_end() = std::make_unique<Renderer>();
        draw_floor(*lives_to_the_end());
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
}  // namespace mvsim::renderer_process_test
