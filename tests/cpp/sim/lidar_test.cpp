// What a lidar of a running world reads of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test {
namespace {

std::string lidar(const std::string& more) {
  return "<sensor class='laser' name='l'><nrays>181</nrays><max_range>10</max_range>" + more + "</sensor>";
}

// Beside the car, looking at its left front wheel, whose centre is at (1.4, 0.55).
TEST(Lidar, SeesSteeredWheelsTurned) {
  const std::string watcher = bot(
      "watcher", "",
      lidar("<range_std_noise>0</range_std_noise><height>0</height>") + "<init_pose>1.4 3 -90</init_pose>");
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" +
                          car("ackermann", "<controller class='raw'/>") + watcher),
                 0);
  for (const double steer : {0.0, 0.5, -0.5}) {
    const double command[] = {0, 0, steer};
    sim.set_command(0, command);
    sim.step();
    std::vector<float> ranges(181);
    sim.read_now(0, ranges.data(), nullptr);
    const double turned = wheel_states(sim, 0)[2].steer;
    EXPECT_EQ(turned != 0, steer != 0);
    // the middle ray meets the long side of a box that is 0.2 m wide and turned about its centre
    EXPECT_NEAR(ranges[90], 3 - 0.55 - 0.1 / std::cos(turned), 1e-5) << steer;
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

TEST(Lidar, NoiseLeavesNoRangeBelowZero) {
  const std::string near_wall =
      "<block name='wall'><static>true</static><init_pose>0.6 0 0</init_pose>"
      "<shape><pt>0 -1</pt><pt>0 1</pt><pt>.1 1</pt><pt>.1 -1</pt></shape></block>";
  Simulation sim(
      model_of(near_wall +
               bot("r", "", lidar("<range_std_noise>1</range_std_noise>") + "<init_pose>0 0 0</init_pose>")),
      1);
  std::vector<float> ranges(181);
  sim.read_now(0, ranges.data(), nullptr);
  const auto [least, most] = std::minmax_element(ranges.begin(), ranges.end());
  EXPECT_EQ(*least, 0);
  EXPECT_EQ(*most, 10);
}

}  // namespace
}  // namespace mvsim::test
