// Joined vehicles whose shapes Box2D has only near things move as those whose shapes it always has.
#include "sim/rig_room.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::rig_room_test {
namespace {

std::string wall(const std::string& name, const std::string& pose, const std::string& size) {
  return "<block name='" + name + "'><static>true</static><init_pose>" + pose +
         "</init_pose><geometry type='box' " + size + " lz='1'/></block>";
}

const std::string kRevolute =
    R"(<joint type="revolute" body_a="truck" anchor_a="-0.6 0" body_b="trailer" anchor_b="1.2 0" )";

// A truck and a trailer in a yard of 12 m.
std::string yard(const std::string& joint_more = "") {
  return "<simul_timestep>0.01</simul_timestep>" + wall("east", "6 0 0", "lx='0.2' ly='12'") +
         wall("west", "-6 0 0", "lx='0.2' ly='12'") + wall("north", "0 6 0", "lx='12' ly='0.2'") +
         wall("south", "0 -6 0", "lx='12' ly='0.2'") + bot("truck", kPid, kOrigin) +
         bot("trailer", "", "<init_pose>-1.8 0 0</init_pose>") + kRevolute + joint_more + "/>";
}

// With it the room cannot be known.
const std::string kFarBlock =
    "<block name='far'><mass>1</mass><init_pose>200 200 0</init_pose><geometry type='box' lx='1' ly='1' "
    "lz='1'/></block>";

RigRoom room_of(const Simulation& sim) {
  RigRoom room(sim.model(), sim.state());
  room.measure(sim.state());
  return room;
}

TEST(RigRoom, IsKnownWhereOnlyWheelsAndRevoluteJointsMoveAnything) {
  const auto is_known = [](const std::string& world) {
    return room_of(Simulation(model_of(world), 0)).is_known();
  };
  EXPECT_TRUE(is_known(yard()));
  EXPECT_FALSE(is_known(yard() + kFarBlock));
  EXPECT_FALSE(is_known(bot("truck", kPid, kOrigin)));
  EXPECT_FALSE(is_known(bot("truck", kIdeal, kOrigin) +
                        bot("trailer", "", "<init_pose>-1.8 0 0</init_pose>") + kRevolute + "/>"));
  EXPECT_FALSE(is_known(
      bot("truck", kPid, kOrigin) + bot("trailer", "", "<init_pose>-1.8 0 0</init_pose>") +
      R"(<joint type="distance" body_a="truck" anchor_a="0 0" body_b="trailer" anchor_b="0 0" max_length="2"/>)"));
}

TEST(RigRoom, IsTheGapToTheNearestThingLessTheWaySince) {
  Simulation sim(model_of(yard()), 0);
  RigRoom room =
      room_of(sim);  // 5.9 m to the east wall from the middle, 3.7 m to the west from the trailer's tail
  EXPECT_TRUE(room.is_wide_for(0.13));
  EXPECT_FALSE(room.is_wide_for(0.14));
  room.use(2);
  EXPECT_TRUE(room.is_wide_for(0.03));
  EXPECT_FALSE(room.is_wide_for(0.04));
  room.use(1);
  EXPECT_FALSE(room.is_wide_for(0));
}

// Random drives with the solver filled anew as in a batch.
TEST(RigRoom, LeavesAllBitsOfADriveBetweenWalls) {
  for (const char* joint : {"", R"(enable_limit="true" lower_angle_deg="-50" upper_angle_deg="50")"}) {
    Simulation sim(model_of(yard(joint)), 0), solved(model_of(yard(joint) + kFarBlock), 0);
    RandomStream random(3, 0, StreamPurpose::kActionNoise);
    int touched = 0, alone = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (i % 10 == 0) {
        sim.refill_solver();
        solved.refill_solver();
        if (room_of(sim).is_wide_for(0)) ++alone;
      }
      if (i % 300 == 0) {
        const double vx = random.uniform(-1.2, 1.5), omega = random.uniform(-0.6, 0.6);
        sim.set_twist(0, vx, omega);
        solved.set_twist(0, vx, omega);
      }
      sim.step();
      solved.step();
      Hash hash, expected;
      for (size_t v = 0; v < 2; ++v) {
        const BodyState &a = sim.state().bodies[sim.model().vehicles[v].body],
                        &b = solved.state().bodies[solved.model().vehicles[v].body];
        for (const double x : {a.x, a.y, a.angle, double{a.vx}, double{a.vy}, double{a.omega}}) hash.mix(x);
        for (const double x : {b.x, b.y, b.angle, double{b.vx}, double{b.vy}, double{b.omega}})
          expected.mix(x);
        hash.mix(sim.state().vehicles[v].contacts);
        expected.mix(solved.state().vehicles[v].contacts);
        if (sim.state().vehicles[v].in_collision) ++touched;
      }
      ASSERT_EQ(hash.value(), expected.value()) << "step " << i;
    }
    EXPECT_GT(touched, 1000);
    EXPECT_GT(alone, 200);
  }
}

// A snapshot leads on as the run that it was taken of.
TEST(RigRoom, LeavesNothingBehindInASnapshot) {
  const auto model = model_of(yard());
  Simulation sim(model, 0), copy(model, 1);
  for (int i = 0; i < 900; ++i) {
    if (i == 350) copy.restore(sim.snapshot());
    for (Simulation* s : {&sim, &copy}) {
      s->set_twist(0, 1, 0.1);
      s->step();
    }
  }
  EXPECT_TRUE(sim.state().vehicles[0].contacts != 0);
  Hash hash, expected;
  mix_state(sim, expected);
  mix_state(copy, hash);
  EXPECT_EQ(hash.value(), expected.value());
}

}  // namespace
}  // namespace mvsim::test::rig_room_test
