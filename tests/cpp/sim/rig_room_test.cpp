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

// A truck and a trailer in a yard of that half side, m.
std::string yard(const std::string& joint_more = "", int half = 6) {
  const std::string h = std::to_string(half), side = std::to_string(2 * half);
  const std::string along_y = "lx='0.2' ly='" + side + "'", along_x = "lx='" + side + "' ly='0.2'";
  return "<simul_timestep>0.01</simul_timestep>" + wall("east", h + " 0 0", along_y) +
         wall("west", "-" + h + " 0 0", along_y) + wall("north", "0 " + h + " 0", along_x) +
         wall("south", "0 -" + h + " 0", along_x) + bot("truck", kPid, kOrigin) +
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

// Random drives of the first vehicle in the yard, most of the time with the solver filled anew as in a batch.
// `touches`: steps of vehicles that touch something, at least.
void expect_same_drive(const std::string& world, int touches = 1000) {
  Simulation sim(model_of(world), 0), solved(model_of(world + kFarBlock), 0);
  RandomStream random(3, 0, StreamPurpose::kActionNoise);
  int touched = 0, alone = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (i % 10 == 0 && i / 1000 % 3 != 2) {
      sim.refill_solver();
      solved.refill_solver();
      if (room_of(sim).is_wide_for(0)) ++alone;
    }
    if (i % 300 == 0) {
      const bool stops = random.uniform(0, 1) < 0.2;
      const double vx = stops ? 0 : random.uniform(-1.2, 1.5), omega = stops ? 0 : random.uniform(-0.6, 0.6);
      sim.set_twist(0, vx, omega);
      solved.set_twist(0, vx, omega);
    }
    sim.step();
    solved.step();
    Hash hash, expected;
    for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
      const BodyState &a = sim.state().bodies[sim.model().vehicles[v].body],
                      &b = solved.state().bodies[solved.model().vehicles[v].body];
      for (const double x : {a.x, a.y, a.angle, double{a.vx}, double{a.vy}, double{a.omega}}) hash.mix(x);
      for (const double x : {b.x, b.y, b.angle, double{b.vx}, double{b.vy}, double{b.omega}}) expected.mix(x);
      hash.mix(sim.state().vehicles[v].contacts);
      expected.mix(solved.state().vehicles[v].contacts);
      if (sim.state().vehicles[v].in_collision) ++touched;
    }
    ASSERT_EQ(hash.value(), expected.value()) << "step " << i;
  }
  EXPECT_GT(touched, touches);
  EXPECT_GT(alone, 200);
}

TEST(RigRoom, LeavesAllBitsOfADriveBetweenWalls) {
  expect_same_drive(yard());
}

TEST(RigRoom, LeavesAllBitsWhereAJointHasLimits) {
  expect_same_drive(yard(R"(enable_limit="true" lower_angle_deg="-50" upper_angle_deg="50")"));
  expect_same_drive(yard(R"(enable_limit="true" lower_angle_deg="0" upper_angle_deg="1")"), 500);
}

// Box2D solves several joints in an order of its own.
TEST(RigRoom, LeavesAllBitsOfATrainOfTrailersAndOfARobotBeside) {
  expect_same_drive(
      yard("", 9) + bot("last", "", "<init_pose>-3.6 0 0</init_pose>") +
      R"(<joint type="revolute" body_a="trailer" anchor_a="-0.6 0" body_b="last" anchor_b="1.2 0"/>)" +
      bot("alone", "", "<init_pose>0 4 0</init_pose>"));
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
