// Load transfer of a whole vehicle: from the tag to the forces.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "sim/worlds.h"

namespace mvsim::test::load_transfer_test {
namespace {

constexpr double kGravity = 9.81, kMass = 68, kHeight = 0.3;

const char* const kTransfer = R"(<friction class="vti"/><load_transfer cg_height="0.3"/>)";

double axle_load(const Simulation& sim, size_t first) {
  return wheel_states(sim, 0)[first].load + wheel_states(sim, 0)[first + 1].load;
}

void drive(Simulation& sim, double left, double right, double seconds) {
  const double command[] = {-left, -right};
  sim.set_command(0, command);
  sim.run(seconds, [&] {
    double sum = 0;
    for (const WheelState& w : wheel_states(sim, 0)) {
      EXPECT_GE(w.load, 0);
      sum += w.load;
    }
    EXPECT_NEAR(sum, 60 * kGravity * std::cos(vehicle_pose(sim, 0).pitch), 1e-6 * sum);
  });
}

TEST(LoadTransfer, AcceleratingLoadsTheRear) {
  Simulation sim(model_of(truck(kTransfer)), 1);
  EXPECT_NEAR(axle_load(sim, 0), 30 * kGravity, 1e-4);
  drive(sim, 15, 15, 1);
  const double acceleration = sim.state().vehicles[0].acceleration.x;
  EXPECT_GT(acceleration, 3);
  const double moved = kMass * acceleration * kHeight / 1.0;
  EXPECT_NEAR(axle_load(sim, 0) - axle_load(sim, 2), 2 * moved, 0.01 * moved);
}

TEST(LoadTransfer, LiftsWheelsInsteadOfPullingThem) {
  Simulation sim(model_of(truck(R"(<friction class="vti"/><load_transfer cg_height="2"/>)")), 1);
  drive(sim, 40, 40, 0.5);
  EXPECT_EQ(axle_load(sim, 2), 0);
  EXPECT_NEAR(axle_load(sim, 0), 60 * kGravity, 1e-9);
}

TEST(LoadTransfer, TurningLoadsTheOuterWheels) {
  Simulation sim(model_of(truck(kTransfer)), 1);
  drive(sim, 12, 12, 1);
  drive(sim, -4, 12, 0.3);  // to the left
  const auto wheels = wheel_states(sim, 0);
  EXPECT_GT(wheels[1].load + wheels[3].load, wheels[0].load + wheels[2].load + 5);
}

TEST(LoadTransfer, IsOffUnlessAsked) {
  Simulation sim(model_of(truck(R"(<friction class="vti"/>)")), 1);
  drive(sim, 15, 15, 0.5);
  for (const WheelState& w : wheel_states(sim, 0)) EXPECT_EQ(w.load, 15 * kGravity);
  EXPECT_TRUE(sim.model().find_params("vehicle:r/load_transfer/cg_height").empty());
}

TEST(LoadTransfer, HeightIsAParameterThatTheChassisGives) {
  Simulation sim(model_of(truck("<load_transfer/>")), 1);
  const std::vector<size_t> found = sim.model().find_params("vehicle:r/load_transfer/cg_height");
  ASSERT_EQ(found.size(), 1u);
  const VehicleModel& v = sim.model().vehicles[0];
  EXPECT_EQ(sim.state().params[found[0]], (v.z_min + v.z_max) / 2);
  for (const char* wrong : {"<load_transfer>true</load_transfer>", R"(<load_transfer cg_height="-1"/>)"})
    EXPECT_THROW(model_of(truck(wrong)), WorldFileError) << wrong;
}

TEST(LoadTransfer, AHeightThatTheChassisGivesIsWithinItsRange) {
  const auto world = [](const std::string& inside) {
    return vehicle("differential", "<chassis zmin='0.1' zmax='300'/>",
                   "<load_transfer>" + inside + "</load_transfer>");
  };
  EXPECT_TRUE(has(error_of_world(world("")), "the middle of zmin and zmax, 150.05 m"));
  EXPECT_EQ(error_of_world(world("<cg_height>1</cg_height>")), "");
  EXPECT_TRUE(has(error_of_world(world("<cg_height>101</cg_height>")), "expected >= 0 and <= 100"));
}

TEST(LoadTransfer, SlopeLoadsTheLowerWheels) {
  // 1 in 5 uphill: the tire force against the slope acts below the centre of mass
  const char* const kIncline = R"(<element class="elevation_map"><resolution>10</resolution>
    <elevation_data_matrix>[-2 -2 -2; 0 0 0; 2 2 2]</elevation_data_matrix></element>)";
  Simulation sim(model_of(kIncline + truck(R"(<friction class="default"/><load_transfer cg_height="0.3"/>)")),
                 1);
  drive(sim, 0, 0, 0.05);
  EXPECT_NEAR(vehicle_pose(sim, 0).pitch, -std::atan(0.2), 1e-3);
  double force = 0;
  for (const WheelState& w : wheel_states(sim, 0)) force += w.force_x;
  EXPECT_GT(force, 0.1 * kMass * kGravity);
  EXPECT_NEAR(axle_load(sim, 0) - axle_load(sim, 2), 2 * force * kHeight, 0.01 * force * kHeight);
}

}  // namespace
}  // namespace mvsim::test::load_transfer_test
