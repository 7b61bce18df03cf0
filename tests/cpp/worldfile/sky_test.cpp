// <lights> and <element class="skybox">.
#include "assets/png_writer.h"
#include "assets/read_image.h"
#include "worldfile/world_text.h"

namespace mvsim::sky_test {
namespace {

TEST(Lights, DefaultsAreThoseOfTheLanguage) {
  EXPECT_FALSE(load_body("").lights);
  const LightsSpec lights = load_body("<lights/>").lights.value();
  EXPECT_NEAR(lights.azimuth, 45 * kDegree, 1e-12);
  EXPECT_NEAR(lights.elevation, 70 * kDegree, 1e-12);
  EXPECT_EQ(lights.color, Color{});
  EXPECT_EQ(lights.ambient, 0.5);
  EXPECT_TRUE(lights.has_shadows);
}

TEST(Lights, AreReadUnderAllTheirNames) {
  const WorldSpec world = load_body(
      "<lights><light_azimuth_deg>-25</light_azimuth_deg><light_elevation>10</light_elevation>"
      "<light_color>#102030</light_color><shadow_bias>1e-4</shadow_bias></lights>"
      "<light><enable_shadows>false</enable_shadows><light_ambient>0.1</light_ambient></light>"
      "<lights enabled='false'><light_ambient>1</light_ambient></lights>");
  const LightsSpec lights = world.lights.value();
  EXPECT_NEAR(lights.azimuth, -25 * kDegree, 1e-12);
  EXPECT_NEAR(lights.elevation, 10 * kDegree, 1e-12);
  EXPECT_EQ(lights.color.g, 0x20);
  EXPECT_EQ(lights.ambient, 0.1);
  EXPECT_FALSE(lights.has_shadows);
  EXPECT_EQ(joined(world.warnings), "");
  EXPECT_TRUE(has(error_of("<lights><light_ambient>2</light_ambient></lights>"), "<light_ambient>: found 2"));
}

class SkyboxTest : public ::testing::Test {
 protected:
  WorldSpec load(const std::string& textures) const {
    return load_world_text(
        world_of("<element class='skybox'><textures>" + textures + "</textures></element>"), folder_.path(),
        {});
  }
  std::string error(const std::string& textures) const {
    try {
      load(textures);
    } catch (const WorldFileError& e) {
      return e.what();
    }
    return "";
  }
  TempFolder folder_;
};

TEST_F(SkyboxTest, EachSideIsAFile) {
  int grey = 0;
  for (const char* side : {"Front", "Back", "Down", "Up", "Left", "Right"})
    folder_.write("sky_" + std::string(side) + ".png",
                  test::png(1, 1, 8, test::kPngGray, test::png_row({++grey})));
  const WorldSpec world = load("sky_%s.png");
  ASSERT_TRUE(world.skybox);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ((*world.skybox)[i]->rgba[0], i + 1);
  EXPECT_EQ(joined(world.warnings), "");
}

TEST_F(SkyboxTest, WhatIsNotFetchedIsOneWarning) {
  const WorldSpec world = load("https://a.b/sky.zip/sky_%s.png");
  EXPECT_FALSE(world.skybox);
  ASSERT_EQ(world.warnings.size(), 1U);
  EXPECT_TRUE(has(world.warnings[0], "mvsim-gym fetch")) << world.warnings[0];
  EXPECT_TRUE(has(world.warnings[0], "6 times")) << world.warnings[0];
}

TEST_F(SkyboxTest, SaysWhatIsWrong) {
  EXPECT_TRUE(has(error_of("<element class='skybox'/>"), "expected <textures> with one %s"));
  EXPECT_TRUE(has(error("a.jpg"), "with one %s"));
  EXPECT_TRUE(has(error("a%s/%s.jpg"), "with one %s"));
  EXPECT_TRUE(has(error("sky_%s.png"), ":2:25: <textures>: the file 'sky_Front.png' does not exist"));
  EXPECT_TRUE(has(error("../../%s"), "is outside of the folders"));
  EXPECT_TRUE(has(error("https://a.b/$(touch x)%s"), "running the command"));
  EXPECT_TRUE(has(error("https://a.b/;%s"), "has a character that no URL may have"));
  folder_.write("Front", "no image");
  EXPECT_TRUE(has(error("%s"), "<textures>: "));
}

}  // namespace
}  // namespace mvsim::sky_test
