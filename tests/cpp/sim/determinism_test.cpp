// The same bytes for the same seed, whatever happened before, contacts included.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::determinism_test {
namespace {

// Two robots push crates about between walls, with a noisy lidar: contacts, friction joints, sensors,
// controllers.
std::shared_ptr<const Model> busy_world() {
  const std::string lidar = R"(<sensor class="laser" name="l"><nrays>31</nrays><max_range>6</max_range>
      <sensor_period>0.05</sensor_period></sensor>)";
  return model_of(R"(<simul_timestep>0.01</simul_timestep>
    <walls><shape><pt>-2 -2</pt><pt>2 -2</pt><pt>2 -2</pt><pt>2 2</pt><pt>2 2</pt><pt>-2 2</pt><pt>-2 2</pt><pt>-2 -2</pt>
    </shape></walls>
    <for var="i" from="0" to="3"><block name="b${i}"><mass>2</mass><init_pose>$f{-1+0.7*i} 0.8 20</init_pose>
    <shape><pt>-.2 -.2</pt><pt>-.2 .2</pt><pt>.2 .2</pt><pt>.2 -.2</pt></shape></block></for>)" +
                  bot("a", kPid, "<init_pose>-1 -1 45</init_pose>" + lidar) +
                  bot("b", kPid, "<init_pose>1 -1 120</init_pose>" + lidar));
}

uint64_t drive(Simulation& sim, int steps, uint64_t actions) {
  RandomStream random(actions, 0, StreamPurpose::kActionNoise);
  Hash hash;
  for (int i = 0; i < steps; ++i) {
    if (i % 20 == 0)
      for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
        // drawn one after the other: compilers evaluate arguments in different orders
        const double omega = random.uniform(-1.5, 1.5), vx = random.uniform(-0.5, 1);
        sim.set_twist(v, vx, omega);
      }
    sim.step();
    mix_state(sim, hash);
  }
  return hash.value();
}

TEST(Determinism, ResetAfterAnyHistoryEqualsANewSimulation) {
  const auto model = busy_world();
  Simulation fresh(model, 42, 3);
  const uint64_t expected = drive(fresh, 600, 9);
  EXPECT_TRUE(fresh.state().vehicles[0].contacts);  // or the test would not show contacts
  Simulation used(model, 1, 0);
  for (uint32_t i = 0; i < 5; ++i) {
    drive(used, 137 + static_cast<int>(i) * 41, i);
    used.reset(42, 3);
    EXPECT_EQ(drive(used, 600, 9), expected) << "after history " << i;
    used.reset(i, i);
  }
}

// The memory of Box2D comes from the other world.
TEST(Determinism, ASimulationThatChangesItsModelEqualsANewOne) {
  const auto model = busy_world();
  const auto other = model_of(bot("r", kPid, kOrigin) +
                              "<block name='wall'><static>true</static><init_pose>0.6 0 0</init_pose>"
                              "<geometry type='box' lx='0.2' ly='9' lz='1'/></block>");
  Simulation fresh(model, 42, 3);
  const uint64_t expected = drive(fresh, 600, 9);
  Simulation used(other, 1, 0);
  for (uint64_t i = 0; i < 3; ++i) {
    drive(used, 200, i);
    EXPECT_TRUE(used.state().vehicles[0].contacts);
    used.change_model(model, 42, 3);
    EXPECT_EQ(drive(used, 600, 9), expected) << "after history " << i;
    used.change_model(other, i, 0);
  }
}

TEST(Determinism, SeedAndEpisodeChangeTheNoiseOnly) {
  const auto model = busy_world();
  Simulation a(model, 1, 0), b(model, 2, 0), c(model, 1, 1);
  a.run(0.2);
  b.run(0.2);
  c.run(0.2);
  EXPECT_NE(a.reading(0)[3], b.reading(0)[3]);
  EXPECT_NE(a.reading(0)[3], c.reading(0)[3]);
  EXPECT_EQ(vehicle_pose(a, 0).x, vehicle_pose(b, 0).x);
}

TEST(Determinism, SteppingIsFiniteUnderWildCommands) {
  Simulation sim(busy_world(), 3);
  sim.set_twist(0, 1e6, -1e6);
  sim.set_twist(1, -1e30, 1e30);
  for (int i = 0; i < 200; ++i) sim.step();
  EXPECT_TRUE(is_finite(sim));
}

}  // namespace
}  // namespace mvsim::test::determinism_test
