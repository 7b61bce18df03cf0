// Golden hashes: 1,000 steps of a scripted drive into a wall for every registered dynamics
// class and controller, and for every tire model under `differential`. The constants must come out of every
// compiler and optimisation level (./dev determinism). They change only with the physics, and a commit that
// changes one says why.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::golden_test {
namespace {

const std::map<std::string, uint64_t>& golden() {
  static const std::map<std::string, uint64_t> kGolden{
      {"differential/raw/default", 0x239b489e862f876b},
      {"differential/twist_ideal/default", 0x13595cdcb8437337},
      {"differential/twist_pid/default", 0x79f6be7aa33baf88},
      {"differential_3_wheels/raw/default", 0xd6683371d2a96a1f},
      {"differential/twist_wheels/default", 0x18acda364bd75891},
      {"differential/twist_wheels/ellipse", 0xfc451a09d6abc0b2},
      {"differential/twist_wheels/skid", 0x89067cc225e66c6b},
      {"differential/twist_wheels/vti", 0x17d3d62d5f2ed927},
      {"differential/twist_wheels/wardiagnemma", 0x24be7c89e90cf791},
      {"differential_3_wheels/twist_wheels/default", 0x2e85c2653f61db77},
      {"differential_4_wheels/twist_wheels/default", 0x4c28ea7a458dca13},
      {"differential_3_wheels/twist_ideal/default", 0xbab84d344a29f431},
      {"differential_3_wheels/twist_pid/default", 0xe25721c9183ac2d7},
      {"differential_4_wheels/raw/default", 0xf43d36ff9f33e2b6},
      {"differential_4_wheels/twist_ideal/default", 0x7149512810949861},
      {"differential_4_wheels/twist_pid/default", 0xe3b9b6ea2ea7b116},
      {"differential/raw/ellipse", 0xf4a25313f34e61d8},
      {"differential/raw/vti", 0x8ddef50302b56aa5},
      {"differential/raw/wardiagnemma", 0x8c710aea66ef2caa},
      {"differential/twist_ideal/ellipse", 0xfaffa870d25d076a},
      {"differential/twist_ideal/vti", 0x415e588074f09885},
      {"differential/twist_ideal/wardiagnemma", 0x5bb1e743b30662c8},
      {"differential/twist_pid/ellipse", 0xbcd5f41aa3497b28},
      {"differential/twist_pid/vti", 0x96e668b250d9827c},
      {"differential/twist_pid/wardiagnemma", 0xfebe8c07fe7199e4},
      {"differential/raw/skid", 0xacb2a1c67d981dce},
      {"differential/twist_pid/skid", 0xeb6ad91025c1dcca},
      {"differential/twist_ideal/skid", 0x72fc4adc36ffec46},
      {"ackermann/raw/default", 0xa0ad9f37dc924354},
      {"ackermann/twist_ideal/default", 0x846a940241b51163},
      {"ackermann/twist_front_steer_pid/default", 0x46b2ae7a5bf4aa1b},
      {"ackermann/front_steer_pid/default", 0x69afedfe42124561},
      {"ackermann/throttle_brake/default", 0xb99c6d1723a06728},
      {"ackermann_drivetrain/raw/default", 0x1a5d0e11d1a9aa55},
      {"ackermann_drivetrain/twist_front_steer_pid/default", 0x1abf344ca1eab7b8},
      {"ackermann_drivetrain/front_steer_pid/default", 0xc75029735583d080},
      {"ackermann_drivetrain/throttle_brake/default", 0xeb501000f31ba582},
  };
  return kGolden;
}

std::string world_of(const Dynamics& dynamics, const Controller& controller, const TireModel& tire) {
  std::string wheels;
  for (const WheelSlot& slot : dynamics.wheel_slots())
    wheels += "<" + std::string(slot.tag) + R"( mass="1" width="0.05" diameter="0.2"/>)";
  return R"(<simul_timestep>0.01</simul_timestep>
    <block name="wall"><static>true</static><init_pose>3 0 10</init_pose>
      <shape><pt>0 -3</pt><pt>0 3</pt><pt>.2 3</pt><pt>.2 -3</pt></shape></block>
    <block name="crate"><mass>5</mass><init_pose>1.5 0.2 30</init_pose>
      <geometry type="cylinder" radius="0.3" length="1" vertex_count="12"/></block>
    <vehicle name="r"><init_pose>0 0 5</init_pose><dynamics class=")" +
         std::string(dynamics.name()) + "\">" + wheels +
         R"(<chassis mass="10"><shape><pt>-.4 -.4</pt><pt>-.4 .4</pt><pt>.4 .4</pt><pt>.5 0</pt><pt>.4 -.4</pt></shape>
      </chassis><controller class=")" +
         std::string(controller.name()) + R"("/></dynamics><friction class=")" + std::string(tire.name()) +
         R"("/><sensor class="laser" name="l"><nrays>61</nrays><max_range>8</max_range></sensor></vehicle>)";
}

uint64_t drive(const std::string& world, const Controller& controller) {
  Simulation sim(model_of(world), 12345);
  RandomStream random(99, 0, StreamPurpose::kActionNoise);
  Hash hash;
  const size_t values = controller.command().size();
  for (int i = 0; i < 1000; ++i) {
    if (i % 50 == 0) {
      double command[kMaxCommand];
      for (size_t k = 0; k < values; ++k) command[k] = random.uniform(-1.2, 0.8);
      if (controller.accepts_twist()) command[0] = std::fabs(command[0]);
      sim.set_command(0, {command, values});
    }
    sim.step();
    mix_state(sim, hash);
  }
  EXPECT_TRUE(is_finite(sim));
  return hash.value();
}

TEST(Golden, EveryDynamicsControllerAndTire) {
  size_t cases = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const Controller* controller : dynamics->controllers())
      for (const TireModel* tire : tire_models()) {
        if (tire->name() != "default" && dynamics->name() != "differential") continue;
        const std::string name = std::string(dynamics->name()) + "/" + std::string(controller->name()) + "/" +
                                 std::string(tire->name());
        const uint64_t hash = drive(world_of(*dynamics, *controller, *tire), *controller);
        const auto expected = golden().find(name);
        ++cases;
        EXPECT_TRUE(expected != golden().end() && expected->second == hash)
            << "{\"" << name << "\", 0x" << std::hex << hash << "},";
      }
  EXPECT_EQ(cases, golden().size());
}

TEST(Golden, HillsAndRegions) {
  std::string hills;
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column)
      hills += std::to_string((row * 7 + column * column * 3 + row * column * 5) % 11 * 0.05) +
               (column == 11 ? ";" : " ");
  const std::string world =
      "<simul_timestep>0.005</simul_timestep><element class='elevation_map'><elevation_data_matrix>[" +
      hills +
      "]</elevation_data_matrix></element><element "
      "class='property_region'><property_name>friction_mu</property_name>"
      "<value_double>0.2</value_double><x_max>4</x_max></element>" +
      four_wheels(
          "<controller class='twist_pid'><KP>5</KP><KI>3</KI><max_torque>12</max_torque></controller>",
          "<init_pose3d>0 0 3 20 0 0</init_pose3d>");
  Simulation sim(model_of(world), 7);
  Hash hash;
  for (int i = 0; i < 1000; ++i) {
    if (i % 100 == 0) sim.set_twist(0, 0.6, i % 200 == 0 ? 0.4 : -0.5);
    sim.step();
    mix_state(sim, hash);
  }
  EXPECT_TRUE(is_finite(sim));
  EXPECT_EQ(hash.value(), 0x661ed3a6aa61fe04u) << std::hex << hash.value();
}

}  // namespace
}  // namespace mvsim::test::golden_test
