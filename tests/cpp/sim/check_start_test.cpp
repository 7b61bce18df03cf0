// Bodies that start inside of each other get a warning for each kind and are pushed apart. Bodies that only
// touch do not.
#include "sim/free_room.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::check_start_test {
namespace {

std::vector<std::string> warnings_of(const std::string& body) {
  const Simulation sim(model_of(body), 0);
  std::vector<std::string> out;
  for (const StartWarning& warning : check_start(sim)) {
    EXPECT_GT(warning.where.line, 0);
    EXPECT_GT(warning.where.column, 0);
    out.push_back(warning.text);
  }
  return out;
}

// The one warning, "" where there is none.
std::string warning_of(const std::string& body) {
  const std::vector<std::string> found = warnings_of(body);
  EXPECT_LE(found.size(), 1u);
  return found.empty() ? "" : found.front();
}

std::string block(const std::string& name, const std::string& pose, const std::string& more = "") {
  return "<block name='" + name + "'><init_pose>" + pose + " 0</init_pose>" + more +
         "<geometry type='box' lx='1' ly='1' lz='1'/></block>";
}

constexpr const char* kStatic = "<static>true</static>";

TEST(CheckStart, NamesWhatAVehicleStartsInsideOf) {
  const std::string robot = bot("r", kIdeal, kOrigin);  // 0.8 x 0.5 m about the origin
  EXPECT_TRUE(has(warning_of(robot + block("b", "0.3 0", kStatic)),
                  "<vehicle> 'r' starts inside of the block 'b': they are pushed apart"));
  EXPECT_TRUE(has(warning_of(robot + block("box", "-0.5 -0.5")), "the block 'box'"));
  EXPECT_TRUE(has(warning_of("<walls><shape><pt>-1 0.1</pt><pt>1 0.1</pt></shape></walls>" + robot),
                  "inside of the wall 'wall_0001'"));
  EXPECT_TRUE(has(warning_of(robot + bot("s", kIdeal, "<init_pose>0.7 0.2 45</init_pose>")),
                  "inside of the vehicle 's', and 1 more vehicle starts inside of vehicles"));
}

TEST(CheckStart, WarnsOnceOfEachKind) {
  std::string many =
      block("b", "20 0", kStatic) + "<walls><shape><pt>-1 9.5</pt><pt>1.5 9.5</pt></shape></walls>";
  for (int i = 0; i < 4; ++i) {
    const std::string k = std::to_string(i);
    many += bot("v" + k, kIdeal, "<init_pose>0." + k + " 0 0</init_pose>") +
            bot("b" + k, kIdeal, "<init_pose>20 0." + k + " 0</init_pose>") + block("w" + k, k + " 9") +
            block("x" + k, "40." + k + " 0");
  }
  const std::vector<std::string> found = warnings_of(many);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(has(found[0], "<vehicle> 'v0' starts inside of the vehicle 'v1', and 7 more vehicles start"));
  EXPECT_TRUE(has(found[1], "<vehicle> 'b0' starts inside of the block 'b', and 3 more vehicles start"));
  EXPECT_TRUE(has(found[2], "<block> 'x0' starts inside of the block 'x1', and 3 more blocks start"));
  EXPECT_TRUE(has(found[3], "<block> 'w0' starts inside of the wall 'wall_0001', and 1 more block starts"));
}

TEST(CheckStart, StrictRefusesTheFirst) {
  const Simulation sim(model_of(block("a", "0 0") + block("b", "0.5 0")), 0);
  try {
    require_free_start(sim);
    FAIL();
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0);
    EXPECT_TRUE(has(e.what(), "strict refuses a warning: <block> 'a' starts inside of the block 'b'"));
  }
}

TEST(CheckStart, AcceptsWhatStandsFree) {
  const std::string robot = bot("r", kIdeal, kOrigin);
  EXPECT_EQ(warning_of(robot), "");
  EXPECT_EQ(warning_of(robot + block("b", "0.4 -0.5")), "");  // flush with it
  EXPECT_EQ(warning_of(robot + block("b", "0 0", "<intangible>true</intangible>")), "");
  EXPECT_EQ(warning_of(robot + bot("s", kIdeal, "<init_pose>0.9 0 0</init_pose>")), "");
  EXPECT_EQ(warning_of(block("a", "0 0") + block("b", "1 0")), "");                    // flush
  EXPECT_EQ(warning_of(block("a", "0 0", kStatic) + block("b", "0 0", kStatic)), "");  // nothing moves
  // joined bodies do not collide
  EXPECT_EQ(warning_of(robot + bot("s", kIdeal, "<init_pose>0.5 0 0</init_pose>") +
                       "<joint type='revolute' body_a='r' anchor_a='0.5 0' body_b='s' anchor_b='0 0'/>"),
            "");
}

// Each pair of a heap costs time in a step that nothing can interrupt.
TEST(CheckStart, RefusesAHeap) {
  const auto heap = [](const char* pose, const char* more = "") {
    return "<for var='i' from='1' to='400'><block><init_pose>" + std::string(pose) + "</init_pose>" + more +
           "<geometry type='box' lx='1' ly='1' lz='1'/></block></for>";
  };
  const auto error_of = [](const std::string& body) -> std::string {
    const Simulation sim(model_of(body), 0);
    try {
      check_start(sim);
      return "";
    } catch (const WorldFileError& e) {
      EXPECT_GT(e.where().line, 0);
      return e.what();
    }
  };
  EXPECT_TRUE(has(error_of(heap("0 0 0")), "found more than 20000 pairs of bodies, or of a body and a cell"));
  EXPECT_EQ(error_of(heap("0 0 0", kStatic)), "");
  EXPECT_EQ(error_of(heap("$f{i} 0 0")), "");  // a row of crates, flush
}

// The same bodies some time later, commanded nothing: apart, and never faster than pushing them apart gently
// needs.
TEST(CheckStart, PushesApartWithoutAJumpOfEnergy) {
  const std::string pushed =
      block("a", "0 0") + block("b", "0.4 0.1") + "<walls><shape><pt>8 -2</pt><pt>8 2</pt></shape></walls>" +
      block("c", "7.7 0") + bot("ideal", kIdeal, "<init_pose>0 10 0</init_pose>") +
      bot("pid", kPid, "<init_pose>0.3 10 20</init_pose>") +
      bot("inside", kPid, "<init_pose>20 0 0</init_pose>") + block("d", "20.3 0", kStatic);
  Simulation sim(model_of(pushed), 0);
  ASSERT_EQ(check_start(sim).size(), 4u);
  double fastest = 0;
  for (int step = 0; step < 400; ++step) {
    sim.step();
    for (size_t i = 0; i < sim.model().vehicles.size(); ++i) {
      const Twist2 twist = vehicle_twist(sim, i);
      fastest = std::max({fastest, std::hypot(twist.vx, twist.vy), 0.4 * std::fabs(twist.omega)});
    }
    for (const char* name : {"a", "b", "c"}) {
      const Twist2 twist = block_world_twist(sim, sim.model().block_index(name));
      fastest = std::max({fastest, std::hypot(twist.vx, twist.vy), 0.7 * std::fabs(twist.omega)});
    }
  }
  EXPECT_LT(fastest, 0.2);  // m/s
  EXPECT_TRUE(check_start(sim).empty());
  for (const StartWarning& w : check_start(sim)) ADD_FAILURE() << w.text;
}

}  // namespace
}  // namespace mvsim::test::check_start_test
