// The fingerprint of a Model: worlds that move or read otherwise have another one.
#include "model/model.h"

#include <gtest/gtest.h>

#include "sim/worlds.h"

namespace mvsim::test::fingerprint_test {
namespace {

constexpr const char* kRoom =
    "<block name='wall'><static>true</static><init_pose>2 0 10</init_pose>"
    "<shape><pt>0 -4</pt><pt>0 4</pt><pt>.2 4</pt><pt>.2 -4</pt></shape></block>"
    "<block name='crate'><mass>5</mass><init_pose>1.2 0.2 30</init_pose>"
    "<geometry type='cylinder' radius='0.3' length='1' vertex_count='12'/></block>";

TEST(Fingerprint, TellsWorldsApart) {
  const auto of = [](const std::string& more) { return model_of(kRoom + more)->fingerprint; };
  const std::string robot = bot("a", kPid, "<init_pose>0 0 5</init_pose>");
  EXPECT_EQ(of(robot), of(robot));
  EXPECT_EQ(of(robot), of("<!-- the same world -->\n" + robot));
  EXPECT_NE(of(robot), of(bot("a", kPid, "<init_pose>0 0 6</init_pose>")));
  EXPECT_NE(of(robot), of(bot("a", kIdeal, "<init_pose>0 0 5</init_pose>")));
  EXPECT_NE(of(robot), of(bot("b", kPid, "<init_pose>0 0 5</init_pose>")));
  EXPECT_NE(of(robot), of("<gravity>9.8</gravity>" + robot));
  EXPECT_NE(of(robot), of(bot("a", kPid, "<sensor class='laser' name='l'/><init_pose>0 0 5</init_pose>")));
}

TEST(Fingerprint, TellsSensorsApart) {
  const auto of = [](const std::string& more) {
    const std::string lidar = "<sensor class='laser' name='l'><nrays>37</nrays>" + more + "</sensor>";
    return model_of(kRoom + bot("a", kPid, lidar + "<init_pose>0 0 5</init_pose>"))->fingerprint;
  };
  const char* const kOthers[] = {"<pose>0.1 0 0</pose>",
                                 "<pose_3d>0 0 0.05 0 1 0</pose_3d>",
                                 "<height>0.06</height>",
                                 "<fov_degrees>179</fov_degrees>",
                                 "<nrays>38</nrays>",
                                 "<max_range>79</max_range>",
                                 "<bodies_visible>false</bodies_visible>",
                                 "<range_std_noise>0.02</range_std_noise>",
                                 "<angle_std_noise_deg>0.02</angle_std_noise_deg>",
                                 "<sensor_period>0.2</sensor_period>"};
  EXPECT_EQ(of(""), of("<bodies_visible>true</bodies_visible>"));
  for (const char* const other : kOthers) EXPECT_NE(of(""), of(other)) << other;
}

}  // namespace
}  // namespace mvsim::test::fingerprint_test
