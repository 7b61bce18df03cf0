// The class `gnss`: facts 35 to 40 of receivers: where they are on the Earth, noise, regions without a fix.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sim/worlds.h"

namespace mvsim::test::gnss_test {
namespace {

constexpr const char* kPlace =
    "<georeference><latitude>36.8407</latitude><longitude>-2.4075</longitude><height>120</height>%s"
    "</georeference>";
constexpr const char* kQuiet =
    "<horizontal_std_noise>0</horizontal_std_noise><vertical_std_noise>0</vertical_std_noise>";

std::string place(const std::string& more = "") {
  std::string text = kPlace;
  return text.replace(text.find("%s"), 2, more);
}

std::string world(const std::string& before, const std::string& more = kQuiet,
                  const std::string& pose = kOrigin) {
  return "<simul_timestep>0.005</simul_timestep>" + before +
         bot("r", kIdeal,
             "<sensor class='gnss'><sensor_period>0.005</sensor_period>" + more + "</sensor>" + pose);
}

std::string hidden(const std::string& value, const std::string& more = "") {
  return "<element class='property_region'><property_name>gps_no_coverage</property_name>" + value +
         "<x_min>1</x_min><x_max>3</x_max>" + more + "</element>";
}

struct Fix {
  double latitude, longitude, height, east, north, up, horizontal, vertical;
};

// After a tenth of a second; none without a fix.
std::optional<Fix> fix_of(Simulation& sim) {
  sim.run(0.1);
  Fix out;
  std::memcpy(&out, reading_of(sim, 0).data(), sizeof out);
  return sim.reading_valid(0)[0] != 0 ? std::optional(out) : std::nullopt;
}
std::optional<Fix> fix_of(const std::string& text) {
  Simulation sim(model_of(text), 1);
  return fix_of(sim);
}

TEST(Gnss, AtTheOriginItReportsTheReference) {
  const auto fix = fix_of(world(place()));
  ASSERT_TRUE(fix);
  EXPECT_NEAR(fix->latitude, 36.8407, 1e-9);
  EXPECT_NEAR(fix->longitude, -2.4075, 1e-9);
  EXPECT_NEAR(fix->height, 120, 1e-3);
}

TEST(Gnss, AlongXIsEastUnlessTheWorldIsTurned) {
  const std::string away = "<init_pose>100 0 0</init_pose>";
  const auto east = fix_of(world(place(), kQuiet, away));
  ASSERT_TRUE(east);
  EXPECT_NEAR(east->latitude, 36.8407, 2e-8);
  EXPECT_NEAR(east->longitude, -2.406378907352, 1e-11);  // of PROJ
  const auto north =
      fix_of(world(place("<world_to_enu_rotation_deg>90</world_to_enu_rotation_deg>"), kQuiet, away));
  ASSERT_TRUE(north);
  EXPECT_NEAR(north->latitude, 36.841601089545, 1e-11);
  EXPECT_NEAR(north->longitude, -2.4075, 1e-11);
  EXPECT_NEAR(north->north, 100, 1e-6);
}

TEST(Gnss, TheMountIsWhereTheAntennaIs) {
  const auto fix = fix_of(world(place(), std::string(kQuiet) + "<pose_3d>1 2 3 0 0 0</pose_3d>",
                                "<init_pose>0 0 90</init_pose>"));
  ASSERT_TRUE(fix);
  EXPECT_NEAR(fix->east, -2, 1e-6);
  EXPECT_NEAR(fix->north, 1, 1e-6);
  EXPECT_NEAR(fix->up, 3, 1e-12);
}

TEST(Gnss, WorldsInUtmCoordinatesCountFromTheReference) {
  const Vec2 at = utm({36.8407, -2.4075, 0});
  char pose[96];
  std::snprintf(pose, sizeof pose, "<init_pose>%.6f %.6f 0</init_pose>", at.x + 10, at.y - 20);
  const auto fix = fix_of(world(place("<world_is_utm>true</world_is_utm>"), kQuiet, pose));
  ASSERT_TRUE(fix);
  EXPECT_NEAR(fix->east, 10, 1e-3);
  EXPECT_NEAR(fix->north, -20, 1e-3);
  EXPECT_TRUE(has(error_of_world(world(place("<world_is_utm>1</world_is_utm><world_to_enu_rotation_deg>5"
                                             "</world_to_enu_rotation_deg>"))),
                  "expected <world_to_enu_rotation_deg> 0"));
}

TEST(Gnss, NoiseIsHorizontalAndVertical) {
  Simulation sim(model_of(world(place(), "")), 3);
  sim.step();
  double sums[3] = {};
  constexpr int kCount = 10'000;
  for (int i = 0; i < kCount; ++i) {
    sim.step();
    Fix fix;
    std::memcpy(&fix, reading_of(sim, 0).data(), sizeof fix);
    sums[0] += fix.east * fix.east;
    sums[1] += fix.north * fix.north;
    sums[2] += fix.up * fix.up;
    ASSERT_EQ(fix.horizontal, 2);
    ASSERT_EQ(fix.vertical, 4);
  }
  EXPECT_NEAR(std::sqrt(sums[0] / kCount), 2, 0.1);
  EXPECT_NEAR(std::sqrt(sums[1] / kCount), 2, 0.1);
  EXPECT_NEAR(std::sqrt(sums[2] / kCount), 4, 0.2);
}

TEST(Gnss, InsideARegionWithoutCoverageThereIsNoFix) {
  const std::string text = world(place() + hidden("<value_bool>true</value_bool>"), kQuiet);
  Simulation sim(model_of(text), 1);
  EXPECT_TRUE(fix_of(sim));
  sim.place_vehicle(0, {2, 0, 0});
  EXPECT_FALSE(fix_of(sim));
  EXPECT_GT(sim.state().sensors.at(0).stamp, 0.15);  // the clock goes on
  sim.place_vehicle(0, {4, 0, 0});
  EXPECT_TRUE(fix_of(sim));
  // the first region that holds the antenna decides, and its z counts
  const std::string at = "<init_pose>2 0 0</init_pose>";
  EXPECT_TRUE(fix_of(world(
      place() + hidden("<value_bool>0</value_bool>") + hidden("<value_bool>1</value_bool>"), kQuiet, at)));
  EXPECT_TRUE(fix_of(world(place() + hidden("<value_bool>1</value_bool>", "<z_min>1</z_min>"), kQuiet, at)));
  EXPECT_TRUE(has(error_of_world(world(place() + hidden("<value_double>1</value_double>"))),
                  "expected <value_bool>"));
}

TEST(Gnss, WithoutAPlaceOnTheEarthThereAreNoReadingsAndOneWarning) {
  for (const char* text : {"", "<georeference><height>3</height></georeference>"}) {
    const auto model =
        model_of(world(text) + bot("s", kIdeal, "<sensor class='gnss'/><init_pose>5 0 0</init_pose>"));
    ASSERT_EQ(model->warnings.size(), 1u) << text;
    EXPECT_TRUE(has(model->warnings[0], "has no readings without <georeference>"));
    Simulation sim(model, 1);
    EXPECT_FALSE(fix_of(sim));
  }
}

TEST(Gnss, WhereTheWorldLiesIsPartOfItsFingerprint) {
  const auto print = [](const std::string& before) { return model_of(world(before))->fingerprint; };
  EXPECT_NE(print(place()), print(""));
  EXPECT_NE(print(place()), print(place("<world_to_enu_rotation_deg>1</world_to_enu_rotation_deg>")));
  EXPECT_NE(print(place()), print(place() + hidden("<value_bool>1</value_bool>")));
}

TEST(Gnss, AnImuIsOrientedToEastAndNorth) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                          place("<world_to_enu_rotation_deg>90</world_to_enu_rotation_deg>") +
                          bot("r", kIdeal,
                              "<sensor class='imu'><measure_orientation>1</measure_orientation>"
                              "<orientation_std_noise>0</orientation_std_noise></sensor>" +
                                  std::string(kOrigin))),
                 1);
  sim.run(0.2);
  double values[10];
  std::memcpy(values, reading_of(sim, 0).data(), sizeof values);
  EXPECT_NEAR(values[6], std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(values[9], std::sqrt(0.5), 1e-9);
}

}  // namespace
}  // namespace mvsim::test::gnss_test
