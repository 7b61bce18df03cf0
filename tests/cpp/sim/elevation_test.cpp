// Vehicles on elevation maps: attitude, friction on a slope, steps that block the way.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::elevation_test {
namespace {

// 20 x 20 m that rise by `slope` along +x, 0 at the origin.
std::string incline(double slope, double height = 0) {
  const auto row = [&](double x) {
    const std::string z = std::to_string(height + slope * x);
    return z + " " + z + " " + z;
  };
  return "<element class='elevation_map'><resolution>10</resolution><elevation_data_matrix>[" + row(-10) +
         ";" + row(0) + ";" + row(10) + "]</elevation_data_matrix></element>";
}

constexpr double kSlope = 0.15;

TEST(Elevation, PitchIsMinusTheSlopeUphill) {
  Simulation sim(model_of(incline(kSlope) + four_wheels(kIdeal, "<init_pose>1 2 0</init_pose>")), 0);
  sim.step();
  EXPECT_NEAR(vehicle_pose(sim, 0).pitch, -std::atan(kSlope), 1e-6);
  EXPECT_NEAR(vehicle_pose(sim, 0).roll, 0, 1e-9);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, kSlope, 1e-6);
  sim.place_vehicle(0, {-2, 0, 90 * kDegree});  // across: the right side is the upper one
  EXPECT_NEAR(vehicle_pose(sim, 0).roll, -std::atan(kSlope), 1e-6);
  EXPECT_NEAR(vehicle_pose(sim, 0).pitch, 0, 1e-7);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, -2 * kSlope, 1e-6);
}

TEST(Elevation, LevelGroundIsLevel) {
  Simulation sim(model_of(incline(0, -3) + four_wheels(kIdeal, "<init_pose3d>1 2 0 20 10 10</init_pose3d>")),
                 0);
  EXPECT_EQ(vehicle_pose(sim, 0).z, -3);
  sim.step();
  EXPECT_EQ(vehicle_pose(sim, 0).z, -3);
  EXPECT_EQ(vehicle_pose(sim, 0).pitch, 0);
  EXPECT_EQ(vehicle_pose(sim, 0).roll, 0);
}

TEST(Elevation, YawIsNotAltered) {
  Simulation sim(model_of(incline(0.3) + four_wheels(kIdeal, "<init_pose>0 0 37</init_pose>")), 0);
  const double yaw = vehicle_pose(sim, 0).yaw;
  sim.run(1);
  EXPECT_EQ(vehicle_pose(sim, 0).yaw, yaw);
}

TEST(Elevation, FrictionHoldsOnTenDegrees) {
  for (const char* controller : {kPid, kIdeal}) {
    Simulation sim(model_of(incline(0.176) + four_wheels(controller, "<init_pose>0.5 0.3 30</init_pose>")),
                   0);
    const Pose3 start = vehicle_pose(sim, 0);
    sim.run(3);
    const Pose3 end = vehicle_pose(sim, 0);
    EXPECT_LT(std::hypot(end.x - start.x, end.y - start.y), 1e-3);
    EXPECT_LT(std::fabs(end.yaw - start.yaw), 0.01);
    EXPECT_NE(end.pitch, 0);
  }
}

TEST(Elevation, SlidesBeyondTheAngleOfFriction) {
  // force along the plane m g sin(a), limit mu m g: what is left accelerates, on the whole mass
  constexpr double kMu = 0.05, kSteep = 0.2, kTime = 0.5;
  Simulation sim(model_of("<simul_timestep>0.001</simul_timestep>" + incline(kSteep) +
                          four_wheels(kPid, "<init_pose3d>2 0 5 90 0 0</init_pose3d>", kMu)),
                 0);
  sim.run(kTime);
  const double a = 9.81 * (std::sin(std::atan(kSteep)) - kMu);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 2 - a * kTime * kTime / 2, 0.02 * a * kTime * kTime);
  EXPECT_GT(vehicle_twist(sim, 0).vy, 0.95 * a * kTime) << "left is downhill";
}

TEST(Elevation, AllTiresStandOnASlope) {
  for (const TireModel* tire : tire_models()) {
    Simulation sim(model_of(incline(0.1) + four_wheels(kPid, "<init_pose>0 0 0</init_pose>", 0.8,
                                                       std::string(tire->name()))),
                   0);
    sim.run(2);
    EXPECT_TRUE(is_finite(sim)) << tire->name();
    EXPECT_NEAR(vehicle_pose(sim, 0).pitch, -std::atan(0.1), 1e-6) << tire->name();
  }
}

// Where the ground under an uphill wheel was above its axle, the wheel found no ground and the vehicle fell.
TEST(Elevation, AVehicleStartsOnAFlankHoweverSteep) {
  for (const double slope : {0.3, 0.8, 1.5})
    for (const double x : {-1.0, 1.0}) {
      Simulation sim(model_of(incline(slope, 2) +
                              four_wheels(kPid, "<init_pose>" + std::to_string(x) + " 0 0</init_pose>")),
                     0);
      EXPECT_NEAR(vehicle_pose(sim, 0).z, 2 + slope * x, 1e-6) << slope;
      for (int i = 0; i < 20; ++i) sim.step();
      EXPECT_NEAR(vehicle_pose(sim, 0).z, 2 + slope * vehicle_pose(sim, 0).x, 0.02) << slope;
      EXPECT_NEAR(vehicle_pose(sim, 0).pitch, -std::atan(slope), 1e-3) << slope;
    }
}

TEST(Elevation, InitPoseStandsOnHighGround) {
  const std::string map = incline(0, 1), plane = "<element class='horizontal_plane'><z>3</z></element>";
  EXPECT_EQ(model_of(map + four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>"))->vehicles[0].initial_pose.z,
            1);
  EXPECT_EQ(model_of(plane + four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>"))->vehicles[0].initial_pose.z,
            0)
      << "a plane above may be a roof";
  EXPECT_EQ(model_of(map + incline(0, 2) + plane + four_wheels(kIdeal, "<init_pose>0 0 0</init_pose>"))
                ->vehicles[0]
                .initial_pose.z,
            1)
      << "the lowest of several maps";
  EXPECT_EQ(model_of(map + four_wheels(kIdeal, "<init_pose3d>0 0 5 0 0 0</init_pose3d>"))
                ->vehicles[0]
                .initial_pose.z,
            1);
  EXPECT_EQ(model_of(four_wheels(kIdeal, "<init_pose3d>0 0 5 0 0 0</init_pose3d>") + map)
                ->vehicles[0]
                .initial_pose.z,
            0)
      << "what comes later does not count";
}

TEST(Elevation, PlacedThingsLieOnHighGround) {
  const std::string crate = R"(<block name="crate"><init_pose>3 3 0</init_pose></block>)";
  Simulation sim(model_of(incline(0.3, 4) + crate + four_wheels(kIdeal, kOrigin)), 0);
  sim.place_vehicle(0, {1, 1, 0.4});
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 4.3, 1e-6);
  EXPECT_NEAR(vehicle_pose(sim, 0).pitch, -std::atan(0.3 * std::cos(0.4)), 1e-3);
  sim.place_block(0, {-2, 1, 0});
  EXPECT_NEAR(block_pose(sim, 0).z, 3.4, 1e-6);
  sim.step();
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 4.3, 1e-6);
}

TEST(Elevation, TwoWheelsFollowLevelGroundOnly) {
  Simulation sim(model_of(incline(kSlope) + bot("r", kIdeal, kOrigin)), 0);
  sim.set_twist(0, 1, 0);
  sim.run(1);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, kSlope * vehicle_pose(sim, 0).x, 2e-3)
      << "straight up both wheels are level";
  EXPECT_EQ(vehicle_pose(sim, 0).pitch, 0);
  sim.place_vehicle(0, {0, 0, 45 * kDegree});
  const double z = vehicle_pose(sim, 0).z;
  sim.set_twist(0, 0.2, 0);
  sim.run(1);
  EXPECT_EQ(vehicle_pose(sim, 0).z, z);
}

TEST(Elevation, ACopyContinuesBitForBit) {
  Simulation sim(model_of(incline(0.2) + four_wheels(kPid, "<init_pose>0 0 37</init_pose>")), 0);
  sim.set_twist(0, 0.5, 0.3);
  sim.run(1);
  Simulation copy(sim);
  sim.run(1);
  copy.run(1);
  EXPECT_EQ(vehicle_pose(sim, 0).z, vehicle_pose(copy, 0).z);
  EXPECT_EQ(vehicle_pose(sim, 0).pitch, vehicle_pose(copy, 0).pitch);
  EXPECT_EQ(vehicle_pose(sim, 0).x, vehicle_pose(copy, 0).x);
}

TEST(Elevation, AVehicleUnderTheMapIsSaid) {
  const auto warnings = [](const std::string& pose) {
    const auto model =
        model_of("<element class='horizontal_plane'/>" + incline(0, 1) + four_wheels(kIdeal, pose));
    std::string all;
    for (const std::string& w : model->warnings) all += w;
    return all;
  };
  EXPECT_NE(warnings("<init_pose>0 0 0</init_pose>").find("'r' starts under the elevation map"),
            std::string::npos);
  EXPECT_EQ(warnings("<init_pose3d>0 0 5 0 0 0</init_pose3d>").find("starts under"), std::string::npos);
}

// Returns a block that vehicles can drive onto if its height is low. Higher steps block them.
std::string platform(double height) {
  return R"(<block name="step"><intangible>true</intangible><init_pose>1 -2 0</init_pose>
    <geometry type="box" lx="4" ly="4" lz=")" +
         std::to_string(height) + R"("/></block>)";
}

TEST(TerrainStep, LowStepsAreClimbed) {
  Simulation sim(model_of(platform(0.08) + four_wheels(kPid, kOrigin)), 0);
  sim.set_twist(0, 0.5, 0);
  sim.run(5);
  EXPECT_GT(vehicle_pose(sim, 0).x, 1.5);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 0.08, 1e-9);
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
}

TEST(TerrainStep, HighStepsBlock) {
  for (const char* controller : {kPid, kIdeal}) {
    Simulation sim(model_of(platform(0.15) + four_wheels(controller, kOrigin)), 0);
    sim.set_twist(0, 0.5, 0);
    sim.run(5);
    EXPECT_NEAR(vehicle_pose(sim, 0).x, 1 - 0.25, 0.06);
    EXPECT_EQ(vehicle_pose(sim, 0).z, 0);
    EXPECT_TRUE(sim.state().vehicles[0].contacts);
    if (controller == kPid) continue;  // its integral has to unwind first
    sim.set_twist(0, -0.5, 0);
    sim.run(2);
    EXPECT_LT(vehicle_pose(sim, 0).x, 0.3) << "it may leave";
  }
}

TEST(TerrainStep, CliffsOfAMapBlock) {
  std::string rows;
  for (int i = 0; i < 60; ++i) rows += i < 40 ? "0 0 0 0 0 0 0 0 0;" : "1 1 1 1 1 1 1 1 1;";
  Simulation sim(
      model_of("<element class='elevation_map'><resolution>0.1</resolution><corner_min_x>-3</corner_min_x>"
               "<corner_min_y>-0.4</corner_min_y><elevation_data_matrix>[" +
               rows + "]</elevation_data_matrix></element>" + "<element class='horizontal_plane'/>" +
               four_wheels(kPid, kOrigin)),
      0);
  sim.set_twist(0, 0.5, 0);
  sim.run(5);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 0.911 - 0.25, 0.06) << "where the map has risen by 0.55 of a wheel";
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 0, 1e-9);
  Simulation copy(sim);
  sim.refill_solver();
  sim.run(0.2);
  copy.run(0.2);
  EXPECT_EQ(vehicle_pose(sim, 0).x, vehicle_pose(copy, 0).x);
}

}  // namespace
}  // namespace mvsim::test::elevation_test
