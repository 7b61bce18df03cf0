// The `vti` tire in a world: its XML, mistakes in it, and the effect of the surface on a vehicle.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "sim/worlds.h"

namespace mvsim::test::vti_world_test {
namespace {

std::string refusal(const std::string& friction) {
  return error_of_world(truck(friction));
}

double distance_after(const std::string& friction, double torque) {
  Simulation sim(model_of(truck(friction)), 1);
  const double command[] = {-torque, -torque};
  sim.set_command(0, command);
  sim.run(2);
  EXPECT_NEAR(vehicle_pose(sim, 0).y, 0, 1e-3);
  return vehicle_pose(sim, 0).x;
}

TEST(VtiWorld, UnknownSurfacesAreErrorsThatNameTheKnownOnes) {
  const std::string message = refusal(R"(<friction class="vti" surface="sandy"/>)");
  EXPECT_NE(message.find("'sandy', expected one of dry, wet, snow, ice, sand, clay"), std::string::npos)
      << message;
  EXPECT_NE(message.find("did you mean 'sand'"), std::string::npos) << message;
  EXPECT_NE(refusal(R"(<friction class="vti"><form>doc</form></friction>)").find("corrected, mavs"),
            std::string::npos);
  EXPECT_NE(refusal(R"(<friction class="vti" surface="clay" cone_index_Pa="0"/>)").find("> 0"),
            std::string::npos);
  EXPECT_EQ(refusal(R"(<friction class="vti" surface="clay" form="mavs"/>)"), "");
}

TEST(VtiWorld, ASectionHigherThanTheWheelIsAnError) {
  const std::string message = refusal(R"(<friction class="vti" section_height="0.25"/>)");
  EXPECT_NE(message.find("<section_height>: found 0.25, expected at most 0.2, the radius of the wheel <"),
            std::string::npos)
      << message;
  EXPECT_EQ(refusal(R"(<friction class="vti" section_height="0.2"/>)"), "");
}

// A loaded tire rolls on less than its radius: a wheel that only rolls shows no slip.
TEST(VtiWorld, SlipIsThatOfTheLoadedTire) {
  Simulation sim(
      model_of(truck(R"(<friction class="vti" stiffness="8000" C_damping="0"/><init_vel>3 0 0</init_vel>)")),
      1);
  sim.run(2);
  const WheelState& wheel = wheel_states(sim, 0)[0];
  const double speed = vehicle_twist(sim, 0).vx, deflection = (15 + 2) * 9.81 / 8000;
  EXPECT_GT(speed, 2);
  EXPECT_NEAR(wheel.spin * (0.2 - deflection), speed, 1e-3);
  EXPECT_NEAR(wheel_slip(sim, 0, 0).ratio, 0, 1e-3);
}

TEST(VtiWorld, SurfacesSetHowFarAVehicleGets) {
  // on dry ground the torque counts, on ice the friction
  const double dry = distance_after(R"(<friction class="vti"/>)", 20);
  EXPECT_NEAR(dry, 0.5 * (4 * 20 / 0.2) / (68 + 4 * 2 * 0.5) * 4, 0.1);
  const double ice = distance_after(R"(<friction class="vti" surface="ice"/>)", 20);
  EXPECT_NEAR(ice, 0.5 * 0.0975 * 9.81 * 4, 0.1);
  const double sand =
      distance_after(R"(<friction class="vti" surface="sand" cone_index_Pa="400000" stiffness="5000"/>)", 20);
  EXPECT_GT(sand, ice);
  EXPECT_LT(sand, dry);
}

}  // namespace
}  // namespace mvsim::test::vti_world_test
